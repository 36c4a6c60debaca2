import { describe, expect, it } from "vitest";
import { catalogue } from "../../tools/index.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { listWorkflows } from "../../tools/workflows/list-workflows.ts";
import { apiClient } from "../support/http.ts";
import { countStatements } from "../support/counted-statements.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { parityConfig } from "../support/parity-scenarios.ts";
import { play, SCENARIOS } from "../support/play-scenario.ts";
import { openRest } from "../support/rest.ts";
import { overRest } from "../support/surface-clients.ts";

const calling = (workflow: string) => ({ steps: [{ id: "call", type: "workflow", workflow }] });
const setting = (value: number) => ({ steps: [{ id: "a", type: "set", values: { x: value } }] });

async function open() {
  const opened = await openRest();
  const { call } = opened;
  await call("POST", "/workflows", { name: "A", definition: setting(1) });
  const get = (path = "/workflows/a") => call("GET", path);
  /** Reads the workflow until its answer is kept. */
  const kept = async (path?: string) => {
    await get(path);
    return get(path);
  };
  return { ...opened, get, kept };
}

describe("an answer that REST keeps", () => {
  it("is sent again with the same bytes and ETag, and reads nothing of the workflow", async () => {
    const { call, get } = await open();
    const first = await get();
    const { answer: second, statements } = await countStatements(() => get());
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
    expect(statements.filter((sql) => sql.includes("workflow"))).toEqual([]);
    const etag = first.headers.get("etag")!;
    expect(await call("GET", "/workflows/a", undefined, { "If-None-Match": etag })).toMatchObject({
      status: 304,
    });
    expect((await call("HEAD", "/workflows/a")).headers.get("etag")).toBe(etag);
  });

  it.each([
    ["its definition", async ({ call }) => call("PATCH", "/workflows/a", { definition: setting(2) })],
    ["its name", async ({ call }) => call("PATCH", "/workflows/a", { name: "Other" })],
    ["its publication", async ({ call }) => call("POST", "/workflows/a/publish", { version: 1 })],
    ["its archiving", async ({ call }) => call("DELETE", "/workflows/a")],
    ["a new caller", async ({ call }) => call("POST", "/workflows", { name: "B", definition: calling("a") })],
  ] satisfies [string, (it: Awaited<ReturnType<typeof open>>) => Promise<{ status: number }>][])(
    "is read again after a change: %s",
    async (_name, change) => {
      const opened = await open();
      const before = await opened.kept();
      const changed = await change(opened);
      expect({ change: changed.status < 300 || changed.body }).toEqual({ change: true });
      const after = await opened.get();
      expect(after.body).not.toEqual(before.body);
      expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"));
      // What another process answers is what the database holds.
      const copy = await testInstance({ stateDir: opened.instance.stateDir });
      const { url } = await copy.rest();
      expect((await apiClient(url, opened.key)("GET", "/workflows/a")).body).toEqual(after.body);
    },
  );

  it("is read again after a change by another process", async () => {
    const { instance, kept, get, key } = await open();
    const copy = await testInstance({ stateDir: instance.stateDir });
    const { url } = await copy.rest();
    await kept();
    await apiClient(url, key)("PATCH", "/workflows/a", { description: "By another process" });
    expect((await get()).body.description).toBe("By another process");
  });

  it("is read again when its only caller is archived or no longer calls it", async () => {
    const { call, kept, get } = await open();
    await call("POST", "/workflows/a/publish", {});
    await call("POST", "/workflows", { name: "B", definition: calling("a") });
    expect((await kept()).body.used_by).toEqual(["b"]);
    // Its draft and its published version call it then.
    expect((await call("POST", "/workflows/b/publish", {})).status).toBe(200);
    expect((await kept()).body.used_by).toEqual(["b"]);
    await call("POST", "/workflows/b/unpublish", {});
    await call("PATCH", "/workflows/b", { definition: setting(1) });
    expect((await get()).body.used_by).toEqual([]);
    await call("PATCH", "/workflows/b", { definition: calling("a") });
    expect((await kept()).body.used_by).toEqual(["b"]);
    await call("DELETE", "/workflows/b");
    expect((await get()).body.used_by).toEqual([]);
  });

  it("is not kept with what changes by itself", async () => {
    const { call, kept, get } = await open();
    await call("POST", "/workflows/a/publish", { version: 1 });
    const path = "/workflows/a?include=last_run";
    expect((await kept(path)).body.last_run).toBeNull();
    const { body: run } = await call("POST", "/workflows/a/runs", {});
    expect((await get(path)).body.last_run).toMatchObject({ id: run.id });
  });

  it("is different for other parameters", async () => {
    const { kept } = await open();
    expect((await kept()).body.definition).toEqual(setting(1));
    expect((await kept("/workflows/a?steps=a")).body).toMatchObject({ steps: setting(1).steps });
    expect((await kept()).body.definition).toEqual(setting(1));
  });

  it("is for callers who see everything: a limited key finds what it could find before", async () => {
    const { instance, url, call, kept } = await open();
    await call("POST", "/workflows", { name: "Secret" });
    await kept("/workflows/secret");
    const limited = apiClient(
      url,
      (await instance.key({ scopes: ["read"], limits: { workflows: ["a"] } })).value,
    );
    expect((await limited("GET", "/workflows/secret")).status).toBe(404);
    expect((await limited("GET", "/workflows/a")).status).toBe(200);
    expect((await kept("/workflows/secret")).status).toBe(200);
  });
});

/** Operations that change workflows. */
const CHANGING = catalogue.filter(
  ({ effect, scope, route }) =>
    effect !== "read" &&
    ["write", "publish", "admin"].includes(scope) &&
    /\/(workflows|reviews)\b/.test(route),
);

describe("a kept answer", () => {
  it.each(CHANGING.map(({ name }) => name))(
    "is what the database holds, in the scenario of %s",
    async (name) => {
      const way = await overRest(fakeClock(), parityConfig());
      const read = async (input: object) => (await way.call(getWorkflow, { ...input }, "full")).output;
      let compared = 0;
      await play(way, SCENARIOS[name]!, async () => {
        const { output } = await way.call(listWorkflows, { limit: 50 }, "full");
        for (const { id } of output!["items"] as { id: string }[]) {
          const { definition_text: _, ...current } = (await read({ workflow_id: id, include: ["text"] }))!;
          expect(await read({ workflow_id: id })).toEqual(current);
          compared += 1;
        }
      });
      expect(compared).toBeGreaterThan(0);
    },
  );
});

describe("operations whose answers are kept", () => {
  it("only read, and no values of runs", async () => {
    const withRevision = catalogue.filter((tool) => tool.revision !== undefined);
    expect(withRevision.map(({ name }) => name).toSorted()).toEqual(["get_workflow", "list_workflows"]);
    for (const tool of withRevision) expect([tool.effect, tool.readsValues]).toEqual(["read", undefined]);
  });
});
