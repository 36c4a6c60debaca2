import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { countStatements } from "../support/counted-statements.ts";
import { ROOT } from "../support/documents.ts";
import { testEngine } from "../support/engine.ts";
import { fakeClock } from "../support/instance.ts";
import { connect } from "../support/mcp.ts";
import { openRest } from "../support/rest.ts";

interface Cost {
  statements: number;
  commits: number;
}

/** What requests and runs cost on SQLite, as far as it can be counted. Who makes something dearer says so there and in the CHANGELOG. */
const FIGURES = JSON.parse(readFileSync(join(ROOT, "bench/counted.json"), "utf8")) as {
  rest: Record<string, Cost>;
  mcp: Record<string, Cost>;
  runs: Record<string, { statements_in_transactions: number; commits: number }>;
};

const THREE_STEPS = {
  steps: ["a", "b", "c"].map((id) => ({ id, type: "set", values: { x: 1 } })),
};
const TEN_ITEMS = {
  steps: [
    {
      id: "f",
      type: "set",
      for_each: "${{ [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }}",
      values: { x: "${{ item }}" },
    },
  ],
};

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const { statements, commits } = await countStatements(work);
  return { statements: statements.length, commits };
}

describe("the statements of a request", () => {
  it("are those of bench/counted.json over REST", async () => {
    // With a clock that stands, nothing is done from time to time.
    const { call } = await openRest({ clock: fakeClock() });
    // What is read once after the start.
    await call("POST", "/workflows", { name: "First", definition: THREE_STEPS });
    await call("GET", "/workflows");
    const get = (path: string) => costOf(() => call("GET", path));
    const send = (method: string, path: string, body: object) => costOf(() => call(method, path, body));
    expect({
      "POST /workflows": await send("POST", "/workflows", { name: "A", definition: THREE_STEPS }),
      "GET /workflows/{id}, after a commit": await get("/workflows/a"),
      "GET /workflows/{id}, again": await get("/workflows/a"),
      "GET /workflows, after a commit": await get("/workflows"),
      "GET /workflows, again": await get("/workflows"),
      "GET /workflows?limit=100": await get("/workflows?limit=100"),
      "GET /workflows?limit=100, again": await get("/workflows?limit=100"),
      "PATCH /workflows/{id}": await send("PATCH", "/workflows/a", { description: "New" }),
      "POST /workflows/{id}/publish": await send("POST", "/workflows/a/publish", {}),
      "POST /workflows/{id}/runs": await send("POST", "/workflows/a/runs", {}),
    }).toEqual(FIGURES.rest);
  });

  it("are those of bench/counted.json over MCP", async () => {
    const { instance, call, key } = await openRest({ clock: fakeClock() });
    await call("POST", "/workflows", { name: "A", definition: THREE_STEPS });
    const { url } = await instance.mcp();
    const mcp = await connect("v2 pinned to 2026-07-28", url, key);
    /** Soon after a commit the listener may look what has changed: of some calls, the cheapest counts. */
    const least = async (name: string, input = {}): Promise<Cost> => {
      const costs: Cost[] = [];
      for (let time = 0; time < 5; time += 1) costs.push(await costOf(() => mcp.call(name, input)));
      return costs.toSorted((one, other) => one.statements - other.statements)[0]!;
    };
    expect({
      "tools/call get_workflow": await least("get_workflow", { workflow_id: "a" }),
      "tools/call list_workflows": await least("list_workflows"),
    }).toEqual(FIGURES.mcp);
    await mcp.close();
  });
});

describe("the transactions of a run", () => {
  it.each([
    ["three set steps", THREE_STEPS],
    ["a set step for ten items, one at a time", { steps: [{ ...TEN_ITEMS.steps[0], concurrency: 1 }] }],
  ])("are those of bench/counted.json (%s)", async (name, definition) => {
    const engine = await testEngine({ slots: 1 });
    const queue = await engine.executor();
    const run = async (id: string): Promise<void> => {
      await engine.start(id);
      queue.wake();
      await queue.waitUntilIdle();
    };
    const id = await engine.define(definition);
    // The first run reads what later ones know.
    await run(id);
    const { statements, commits } = await countStatements(() => run(id));
    expect({ statements_in_transactions: inTransactions(statements), commits }).toEqual(FIGURES.runs[name]);
  });
});

/** Between the transactions an executor looks for jobs, as often as it is woken. */
function inTransactions(statements: readonly string[]): number {
  let count = 0;
  let isInside = false;
  for (const sql of statements) {
    if (sql === "begin immediate") isInside = true;
    else if (sql === "commit") isInside = false;
    else if (isInside) count += 1;
  }
  return count;
}
