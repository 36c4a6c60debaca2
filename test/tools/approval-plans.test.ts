/** A decision is for everything that could run when it was made, and for nothing else. */
import { describe, expect, it } from "vitest";
import { createSqliteFile } from "../support/databases.ts";
import { fakeClock, temporaryDirectory, testInstance, type TestInstance } from "../support/instance.ts";
import { callAs, keyPrincipal } from "../support/users.ts";
import type { Principal } from "../../src/core/ports.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { getApproval } from "../../tools/approvals/get-approval.ts";
import { listApprovals } from "../../tools/approvals/list-approvals.ts";

const author = keyPrincipal();
const decider: Principal = { ...keyPrincipal(), keyId: "key_2", keyName: "decider", lineage: "key_2" };

const ask = { id: "ask", type: "approval", message: "Go on?" };
const set = (id: string, values: object, more: object = {}) => ({ id, type: "set", values, ...more });
const call = (workflow: string, more: object = {}) => ({ id: "sub", type: "workflow", workflow, ...more });
const gate = (id = "gate") => ({ id, type: "assert", that: "false", message: "closed" });

const shop = (access: string, dataset: string) => ({
  databases: [{ name: "shop", type: "sqlite", dataset, access }],
});

const aShop = () => createSqliteFile(temporaryDirectory(), "CREATE TABLE orders (id INTEGER)");

/** An instance with an executor that is idle after each step of the test. */
async function opened(config: object = {}, stateDir?: string) {
  const clock = fakeClock();
  const instance = await testInstance({ clock, config, ...(stateDir !== undefined && { stateDir }) });
  const { queue } = await instance.executor({ config });
  const idle = async () => {
    queue.wake();
    await queue.waitUntilIdle();
  };
  const write = callAs(instance, author);
  return {
    instance,
    write,
    decide: callAs(instance, decider),
    idle,
    queue,
    /** Publishes a definition under a name. */
    async publish(name: string, definition: object) {
      const { id } = await write(createWorkflow, { name, definition });
      await write(publishWorkflow, { workflow_id: id });
      return id;
    },
    async republish(id: string, definition: object) {
      await write(updateWorkflow, { workflow_id: id, definition });
      await write(publishWorkflow, { workflow_id: id });
    },
    async start(id: string, input: object = {}) {
      const run = await write(runWorkflow, { workflow_id: id, wait: 0, ...input });
      await idle();
      return run.id;
    },
    run: async (id: string) => (await instance.services.read.runs.find(id))!,
  };
}

const pending = async ({ services }: TestInstance) =>
  (await services.read.approvals.page({ filter: { status: "pending" }, after: null, limit: 9 })).items;

const changed = {
  code: "approval_plan_changed",
  message: expect.stringContaining("nothing was decided") as string,
};

/** Without the same as data, which test/steps/effects.test.ts covers. */
const inWords = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (key === "does" || key === "targets" ? undefined : inner)),
  );

describe("the plan of an approval", () => {
  it("shows one line per step without hidden characters, so that no step can look like another plan", async () => {
    const { instance, decide, publish, start } = await opened();
    const id = await publish("Forger", {
      steps: [
        ask,
        {
          id: "send",
          type: "http",
          url: "${{ 'https://e.example/\u202E' + steps.ask.by }}",
          if: 'steps.ask.by !=\n"- pay (set): Touches nothing\u200B"',
        },
      ],
    });
    await start(id);
    const approval = (await pending(instance))[0]!.id;
    const { plan } = await decide(getApproval, { approval_id: approval });
    expect(plan!.workflows[0]!.steps).toEqual([
      {
        id: "send",
        type: "http",
        effect: "Sends GET to ${{ 'https://e.example/\\u{202e}' + steps.ask.by }}",
        does: "reads",
        targets: ["${{ 'https://e.example/\\u{202e}' + steps.ask.by }}"],
        if: 'steps.ask.by != "- pay (set): Touches nothing\\u{200b}"',
      },
    ]);
  });

  it("is every step that can still run, with what it touches: the rest, undo, on_failure, callees and parents", async () => {
    const dataset = aShop();
    const config = shop("read-write", dataset);
    const { instance, decide, publish, start } = await opened(config);
    await publish("Leaf", {
      steps: [{ id: "wipe", type: "sql", database: "shop", query: "DELETE FROM orders", write: true }],
    });
    await publish("Alarm", { steps: [set("note", { x: 1 })] });
    await publish("Inner", {
      on_failure: "alarm",
      steps: [
        {
          id: "before",
          type: "sql",
          database: "shop",
          query: "INSERT INTO orders VALUES (1)",
          write: true,
          undo: { type: "http", method: "DELETE", url: "https://api.example.com/x" },
          // This step has ended, so nothing of it can be interrupted any more.
          lookup: {
            type: "http",
            url: "https://api.example.com/x",
            happened: "result.status_code == 200",
            output: { rows: [] },
          },
        },
        ask,
        {
          id: "read",
          type: "sql",
          database: "shop",
          query: "SELECT id FROM orders",
          if: "steps.ask.approved",
        },
        call("leaf"),
      ],
    });
    const outer = await publish("Outer", {
      steps: [
        call("inner"),
        {
          id: "post",
          type: "http",
          method: "POST",
          url: "https://hooks.example.com/${{ run.id }}",
          for_each: "[1, 2]",
          lookup: {
            type: "http",
            url: "https://api.example.com/sent",
            happened: "result.status_code == 200",
          },
        },
      ],
    });
    const run = await start(outer);
    const [approval] = await pending(instance);
    const { plan } = await decide(getApproval, { approval_id: approval!.id });
    expect(plan).toMatchObject({ changed: false, digest: expect.stringMatching(/^[\w-]{22}$/) as string });
    expect(inWords(plan!.workflows)).toEqual([
      {
        workflow_id: "inner",
        version: 1,
        role: "run",
        run_id: approval!.runId,
        on_failure: "alarm",
        steps: [
          { id: "read", type: "sql", effect: "Reads the database shop", if: "steps.ask.approved" },
          { id: "sub", type: "workflow", effect: "Runs version 1 of leaf" },
          { id: "before", type: "http", effect: "Sends DELETE to api.example.com", undo: true },
        ],
      },
      {
        workflow_id: "outer",
        version: 1,
        role: "parent",
        run_id: run,
        steps: [
          { id: "post", type: "http", effect: "For each item: Sends POST to hooks.example.com" },
          { id: "post", type: "http", effect: "Sends GET to api.example.com", lookup: true },
        ],
      },
      {
        workflow_id: "leaf",
        version: 1,
        role: "called",
        steps: [{ id: "wipe", type: "sql", effect: "Writes to the database shop" }],
      },
      {
        workflow_id: "alarm",
        version: 1,
        role: "called",
        steps: [{ id: "note", type: "set", effect: "Touches nothing outside of the run" }],
      },
    ]);
    const listed = await decide(listApprovals, { run_id: approval!.runId });
    expect(listed.items[0]!.plan).toEqual(plan);
    expect((await decide(listApprovals)).items[0]!.plan).toBeUndefined();
    expect(
      await decide(decideApproval, { approval_id: approval!.id, decision: "decline" }),
    ).not.toHaveProperty("plan");
  });

  it("shows to a key of some workflows neither the steps of others nor the runs of others that wait", async () => {
    const { instance, publish, start } = await opened();
    await publish("Leaf", { steps: [set("leaf", { x: 1 })] });
    await publish("Hidden", { steps: [set("secret", { x: 1 }), call("leaf")] });
    await publish("Inner", { steps: [ask, call("hidden")] });
    await publish("Parent", { steps: [call("inner"), set("other", { x: 1 })] });
    await start(await publish("Outer", { steps: [call("parent"), set("last", { x: 1 })] }));
    const [approval] = await pending(instance);
    const planFor = async (workflows: string[]) => {
      const access = { ...decider.access, keyLimits: { workflows } };
      const limited = callAs(instance, { ...decider, access });
      const { plan } = await limited(getApproval, { approval_id: approval!.id });
      return plan!.workflows.map(({ workflow_id: id, role, foreign = false, steps }) => [
        id,
        role,
        foreign,
        steps.map((step) => step.id),
      ]);
    };
    expect(await planFor(["inner", "outer"])).toEqual([
      ["inner", "run", false, ["sub"]],
      [null, "parent", true, []],
      ["outer", "parent", false, ["last"]],
      ["hidden", "called", true, []],
    ]);
    expect(await planFor(["inner", "hidden", "parent"])).toEqual([
      ["inner", "run", false, ["sub"]],
      ["parent", "parent", false, ["other"]],
      ["hidden", "called", false, ["secret", "sub"]],
      ["leaf", "called", true, []],
    ]);
  });

  it("keeps the child of the question when another one is published before the decision", async () => {
    const { instance, decide, publish, republish, start, idle, run } = await opened();
    const child = await publish("Child", {
      steps: [set("say", { word: "harmless" })],
      output: "${{ steps.say.word }}",
    });
    const id = await start(await publish("Caller", { steps: [ask, call("child")] }));
    const [approval] = await pending(instance);
    await republish(child, { steps: [set("say", { word: "swapped" })], output: "${{ steps.say.word }}" });
    expect((await decide(getApproval, { approval_id: approval!.id })).plan!.changed).toBe(false);
    await decide(decideApproval, { approval_id: approval!.id, decision: "approve" });
    await idle();
    expect((await run(id)).status).toBe("succeeded");
    expect(await instance.services.read.runs.runOutput(id)).toMatchObject({ output: "harmless" });
  });
});

const reads = { id: "read", type: "sql", database: "shop", query: "SELECT id FROM orders" };

/** A run that asks before it writes to `shop`, and a server with another configuration. */
async function reconfigured(access: string, changedAccess: string, step: object = reads) {
  const dataset = aShop();
  const first = await opened(shop(access, dataset));
  const id = await first.start(
    await first.publish("Deletes", {
      steps: [ask, step],
    }),
  );
  const [approval] = await pending(first.instance);
  await first.queue.stop(0);
  const second = await opened(shop(changedAccess, dataset), first.instance.stateDir);
  return { ...second, id, approval: approval!, first };
}

describe("a decision", () => {
  it.each(["approve", "decline"])(
    "to %s is refused when the configuration has changed since the question",
    async (decision) => {
      const { decide, approval, instance } = await reconfigured("read-only", "read-write");
      await expect(decide(decideApproval, { approval_id: approval.id, decision })).rejects.toMatchObject({
        ...changed,
        details: { errors: [{ path: "plan_digest", code: "plan_changed" }] },
      });
      expect((await instance.services.read.approvals.find(approval.id))!.status).toBe("pending");
      expect((await decide(getApproval, { approval_id: approval.id })).plan!.changed).toBe(true);
    },
  );

  it("is refused when what a lookup connects to has changed", async () => {
    const { id: _, ...read } = reads;
    const output = { status_code: 200, headers: {}, body: null };
    const lookup = { ...read, happened: "result.row_count > 0", output };
    const send = { id: "send", type: "http", method: "POST", url: "https://hooks.example.com/x", lookup };
    const { decide, approval } = await reconfigured("read-only", "read-write", send);
    await expect(
      decide(decideApproval, { approval_id: approval.id, decision: "approve" }),
    ).rejects.toMatchObject(changed);
  });

  it("with the digest of the new plan is for that plan", async () => {
    const { decide, approval, id, idle, run } = await reconfigured("read-only", "read-write");
    const { plan } = await decide(getApproval, { approval_id: approval.id });
    await decide(decideApproval, {
      approval_id: approval.id,
      decision: "approve",
      plan_digest: plan!.digest,
    });
    await idle();
    expect((await run(id)).status).toBe("succeeded");
  });

  it("with the digest of the old plan is refused, and says the new one", async () => {
    const { decide, approval, first } = await reconfigured("read-only", "read-write");
    const { plan } = await callAs(first.instance, decider)(getApproval, { approval_id: approval.id });
    const input = { approval_id: approval.id, decision: "approve", plan_digest: plan!.digest };
    const { plan: current } = await decide(getApproval, { approval_id: approval.id });
    await expect(decide(decideApproval, input)).rejects.toMatchObject({
      ...changed,
      message: expect.stringContaining(`plan_digest: "${current!.digest}"`) as string,
    });
  });

  it("is accepted without a plan for an approval that an older release asked", async () => {
    const { decide, approval, instance } = await reconfigured("read-only", "read-write");
    await instance.store.transaction((trx) => trx.updateTable("approvals").set({ plan: null }).execute());
    expect((await decide(getApproval, { approval_id: approval.id })).plan!.changed).toBe(false);
    expect(await decide(decideApproval, { approval_id: approval.id, decision: "approve" })).toMatchObject({
      status: "approved",
    });
  });

  it("is refused for a run of an older release, without pins, whose child has changed", async () => {
    const { instance, decide, publish, republish, start } = await opened();
    const child = await publish("Child", { steps: [set("say", { word: "harmless" })] });
    await start(await publish("Caller", { steps: [ask, call("child")] }));
    await instance.store.transaction((trx) => trx.updateTable("runs").set({ pins: null }).execute());
    await republish(child, { steps: [set("say", { word: "swapped" })] });
    const [approval] = await pending(instance);
    await expect(
      decide(decideApproval, { approval_id: approval!.id, decision: "approve" }),
    ).rejects.toMatchObject(changed);
  });

  it("is for all items of a fan-out alike", async () => {
    const { instance, decide, publish, start, idle, run } = await opened();
    const id = await start(
      await publish("Asks", { steps: [{ ...ask, for_each: "[1, 2, 3]" }, set("end", { x: 1 })] }),
    );
    const approvals = await pending(instance);
    expect(approvals).toHaveLength(3);
    for (const { id: approvalId } of approvals) {
      await decide(decideApproval, { approval_id: approvalId, decision: "approve" });
      await idle();
    }
    expect((await run(id)).status).toBe("succeeded");
  });
});

/** Approves what the run asks, after which it fails. */
const asked = async (world: Awaited<ReturnType<typeof opened>>, id: string) => {
  const [approval] = await pending(world.instance);
  await world.decide(decideApproval, { approval_id: approval!.id, decision: "approve" });
  await world.idle();
  expect((await world.run(id)).status).toBe("failed");
};

describe("a recorded decision", () => {
  it("is asked again by a retry that would run another child", async () => {
    const world = await opened();
    const child = await world.publish("Child", { steps: [gate()] });
    const id = await world.start(await world.publish("Caller", { steps: [ask, call("child")] }));
    await asked(world, id);
    const same = await world.write(retryRun, { run_id: id, confirm: true, wait: 0 });
    await world.idle();
    expect((await world.run(same.id)).status).toBe("failed");
    await world.republish(child, { steps: [set("say", { word: "swapped" })] });
    const other = await world.write(retryRun, { run_id: id, confirm: true, wait: 0 });
    await world.idle();
    expect((await world.run(other.id)).status).toBe("waiting");
    expect(await pending(world.instance)).toMatchObject([{ runId: other.id }]);
  });

  it("is asked again by a retry of a retry that has reused it", async () => {
    const world = await opened();
    const child = await world.publish("Child", { steps: [gate()] });
    const id = await world.start(await world.publish("Caller", { steps: [ask, call("child")] }));
    await asked(world, id);
    const same = await world.write(retryRun, { run_id: id, confirm: true, wait: 0 });
    await world.idle();
    const again = await world.write(retryRun, { run_id: same.id, confirm: true, wait: 0 });
    await world.idle();
    expect((await world.run(again.id)).status).toBe("failed");
    await world.republish(child, { steps: [set("say", { word: "swapped" })] });
    const other = await world.write(retryRun, { run_id: again.id, confirm: true, wait: 0 });
    await world.idle();
    expect((await world.run(other.id)).status).toBe("waiting");
  });

  it.each([
    ["a changed step after it", { patch: [{ op: "update_step", id: "act", set: { values: { x: 2 } } }] }],
    ["other inputs", { inputs: { amount: 1_000_000 } }],
  ])("in a child run is asked again by a retry with %s, which needs confirm", async (_what, input) => {
    const world = await opened();
    await world.publish("Asks", { steps: [ask], output: "${{ steps.ask.approved }}" });
    const id = await world.start(
      await world.publish("Caller", {
        inputs: { type: "object", properties: { amount: { type: "number", default: 1 } } },
        steps: [call("asks"), set("act", { x: 1 }, { if: "steps.sub.output" }), gate()],
      }),
    );
    await asked(world, id);
    const same = await world.write(retryRun, { run_id: id, wait: 0 });
    await world.idle();
    expect((await world.run(same.id)).status).toBe("failed");
    await expect(world.write(retryRun, { run_id: id, wait: 0, ...input })).rejects.toMatchObject({
      code: "confirmation_needed",
      message: expect.stringContaining('"sub" (workflow) succeeded') as string,
    });
    const other = await world.write(retryRun, { run_id: id, confirm: true, wait: 0, ...input });
    await world.idle();
    expect((await world.run(other.id)).stepStates.list.slice(0, 2)).toEqual(["running", "pending"]);
    expect(await pending(world.instance)).toHaveLength(1);
  });
});
