import { describe, expect, it } from "vitest";
import { IS_POSTGRES } from "../support/postgres-databases.ts";
import { untilPassing } from "../support/eventually.ts";
import { HOUR, MINUTE } from "../../src/core/clock.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { connect, problemOf } from "../support/mcp.ts";
import { expectProblem } from "../support/rest.ts";

const SPACE = async () => ({ free: 100, total: 1_000 });
const FULL = {
  config: { limits: { free_disk: 50 } },
  readDiskSpace: async () => ({ free: 49, total: 1_000 }),
};

/** Two copies of the server on one state: one measures enough space, the other too little. */
async function open() {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const { value: key } = await instance.key();
  const call = apiClient((await instance.rest({ readDiskSpace: SPACE })).url, key);
  const full = await instance.rest(FULL);
  const define = async (name: string, definition: object): Promise<string> => {
    const { body } = await call("POST", "/workflows", { name, definition });
    expect(body.issues).toEqual([]);
    return body.id as string;
  };
  const publish = async (name: string, definition: object): Promise<string> => {
    const id = await define(name, definition);
    expect((await call("POST", `/workflows/${id}/publish`, {})).status).toBe(200);
    return id;
  };
  const callFull = apiClient(full.url, key);
  return { clock, instance, key, call, fullUrl: full.url, callFull, define, publish };
}

const ASKS = {
  steps: [
    { id: "ask", type: "approval", message: "Go on?" },
    { id: "then", type: "set", values: { n: 1 } },
  ],
};

describe("a disk with less free space than limits.free_disk", () => {
  // A database server guards a disk of its own.
  it.skipIf(IS_POSTGRES)("refuses new runs with 507, over REST and MCP", async () => {
    const { instance, key, call, callFull, define } = await open();
    const id = await define("Asks", ASKS);
    const started = await call("POST", `/workflows/${id}/runs`, { wait: 0 }, { "Idempotency-Key": "one" });
    const refused = await callFull("POST", `/workflows/${id}/runs`, { wait: 0 });
    expect(expectProblem(refused, "storage_full").detail).toContain("limits.free_disk");
    expect(refused.status).toBe(507);
    expect(refused.headers.get("retry-after")).toBe("60");
    const mcp = await instance.mcp(FULL);
    const agent = await connect("v2 pinned to 2026-07-28", mcp.url, key);
    expect(problemOf(await agent.call("run_workflow", { workflow_id: id, wait: 0 }))).toMatchObject({
      code: "storage_full",
      status: 507,
    });
    // A request that started its run before gets that run.
    const again = await callFull("POST", `/workflows/${id}/runs`, { wait: 0 }, { "Idempotency-Key": "one" });
    expect(again.body.id).toBe(started.body.id);
    expect((await call("GET", "/runs")).body).toHaveLength(1);
  });

  it("continues everything else: health, reads, changes, cancellation, decisions, running runs", async () => {
    const { instance, call, callFull, fullUrl, define } = await open();
    await instance.executor(FULL);
    const id = await define("Asks", ASKS);
    const [first, second] = [
      (await call("POST", `/workflows/${id}/runs`, { wait: 0 })).body.id as string,
      (await call("POST", `/workflows/${id}/runs`, { wait: 0 })).body.id as string,
    ];
    await untilPassing(async () => expect((await callFull("GET", "/approvals")).body).toHaveLength(2));
    expect((await callFull("GET", "/health")).status).toBe(200);
    expect((await callFull("PATCH", `/workflows/${id}`, { description: "Asks." })).status).toBe(200);
    expect((await callFull("POST", `/runs/${second}/cancel`, {})).status).toBe(200);
    const { value } = await instance.key({ scopes: ["read", "approve"] });
    const approver = apiClient(fullUrl, value);
    const { body: approvals } = await approver("GET", `/approvals?run_id=${first}`);
    expect((await approver("POST", `/approvals/${approvals[0].id}`, { decision: "approve" })).status).toBe(
      200,
    );
    await untilPassing(async () =>
      expect((await callFull("GET", `/runs/${first}`)).body.status).toBe("succeeded"),
    );
  });

  it.skipIf(IS_POSTGRES)(
    "lets scheduled runs and those of workflow steps wait until there is space",
    async () => {
      const { clock, instance, call, define, publish } = await open();
      const child = await publish("Child", { steps: [{ id: "set", type: "set", values: { n: 1 } }] });
      const parent = await define("Parent", { steps: [{ id: "call", type: "workflow", workflow: child }] });
      const schedule = { cron: "0 * * * *", timezone: "UTC" };
      const steps = [{ id: "set", type: "set", values: { n: 1 } }];
      await publish("Hourly", { steps, schedule });
      const { body: run } = await call("POST", `/workflows/${parent}/runs`, { wait: 0 });
      const executor = await instance.executor(FULL);
      clock.advance(HOUR);
      await expect(executor.startDueRuns()).rejects.toMatchObject({ code: "storage_full" });
      await untilPassing(async () =>
        expect((await instance.read.jobs.depth()).later, "the released job").toBeGreaterThan(0),
      );
      expect((await call("GET", "/runs")).body).toHaveLength(1);
      await executor.stop(0);

      const { queue, startDueRuns } = await instance.executor({ readDiskSpace: SPACE });
      expect(await startDueRuns()).toBe(1);
      clock.advance(MINUTE);
      queue.wake();
      await untilPassing(async () =>
        expect((await call("GET", `/runs/${run.id}`)).body.status).toBe("succeeded"),
      );
      expect((await call("GET", "/runs")).body).toHaveLength(3);
    },
  );
});
