/** Interrupted effects that are repeated: by their step, by retries of their run, in fan-outs, loops and child runs. */
import { describe, expect, it } from "vitest";
import { EncodedJson } from "../../../src/core/encoded-json.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { HOUR, MINUTE } from "../../../src/core/clock.ts";
import {
  busy,
  type Company,
  company,
  cut,
  ledger,
  lookup,
  never,
  NO_JOBS,
  pay,
} from "../../support/interrupted-company.ts";

const refuse = (): never => {
  throw new StepError("http_status", "POST answered 400", { transient: false });
};

/** Pays the amount of the inputs. */
const AMOUNTS = {
  steps: [pay({ ask: "${{ inputs.amount }}", on_interrupted: "fail" })],
  inputs: { type: "object", properties: { amount: { type: "integer", default: 10 } } },
};

/** Pays once for each item, and waits for a person where an item is interrupted. */
const eachOf = (items: string, more: object = {}) => ({
  steps: [pay({ for_each: items, concurrency: 3, on_interrupted: "ask", ...more })],
});

const kindsOfCauses = async ({ harness }: Company, id: string): Promise<string[]> =>
  (await harness.find(id)).causes.map(({ kind }) => kind);

const itemsOf = async ({ runs }: Company, runId: string) =>
  (await runs.step({ runId, stepId: "pay", item: null }))!.items;

const undoable = (more: object = {}) => ({
  steps: [
    pay({ undo: { type: "probe", ask: "refund" }, ...more }),
    { id: "gate", type: "assert", that: "inputs.open", message: "closed" },
  ],
  inputs: { type: "object", properties: { open: { type: "boolean", default: true } } },
});

describe("an undo", () => {
  it("undoes an effect that a retry took over, because it happened in a run whose step did not succeed", async () => {
    const shop = await company();
    const first = await shop.interrupted(undoable({ on_interrupted: "fail" }));
    await shop.goOn();
    await shop.settle(first, "happened", { value: "booked" });
    const second = await shop.startRetry(first, { open: false });
    await shop.untilEnded(second, "failed");
    expect(shop.keys).toHaveLength(2);
    expect(await shop.runs.step({ runId: second, stepId: "undo:pay", item: null })).toMatchObject({
      state: "succeeded",
    });
  });

  it("leaves the effect of a run that succeeded, although an attempt of it happened too", async () => {
    const shop = await company();
    const first = await shop.interrupted(undoable());
    await shop.goOn();
    await shop.settle(first, "happened");
    const second = await shop.startRetry(first, { open: false });
    await shop.untilEnded(second, "failed");
    expect((await shop.runs.step({ runId: second, stepId: "pay", item: null }))!.reusedFrom).toBe(first);
    expect(shop.keys).toHaveLength(2);
  });
});

describe("several interruptions of one effect", () => {
  it("give a retry the output of the request that happened, although a later one did not", async () => {
    const shop = await company([cut, cut]);
    const id = await shop.start({ steps: [pay({ retry: { attempts: 2, initial: "0s" } })] });
    await shop.untilEnded(id, "failed");
    const [first, second] = await shop.all(id);
    await shop.settleOf(first!, "happened", { value: "booked" });
    await shop.settleOf(second!, "not_happened");
    expect(await shop.plan(id)).toMatchObject({ again: [], reused: ["pay"] });
    expect(await shop.retry(id)).toMatchObject({ status: "succeeded", output: { value: "booked" } });
    expect(shop.keys).toHaveLength(2);
  });

  it("count over all runs of a chain of retries", async () => {
    const shop = await company([never, never]);
    const first = await shop.interrupted({ steps: [pay({ on_interrupted: "retry" })] });
    await shop.harness.stop(first);
    await shop.goOn();
    const second = await shop.startRetry(first);
    (await shop.executor()).wake();
    await shop.untilCalled(2);
    await shop.harness.stop(second);
    await shop.untilEnded(second, "cancelled");
    await shop.settle(first, "happened", { value: "booked" });
    await shop.settle(second, "not_happened");
    expect(await shop.retry(second)).toMatchObject({ status: "succeeded", output: { value: "booked" } });
    expect(shop.keys).toHaveLength(2);
  });

  it("count for another retry of the same run: an effect with the same key that is open is not sent", async () => {
    const shop = await company([never, never]);
    const first = await shop.interrupted({ steps: [pay({ on_interrupted: "fail" })] });
    await shop.goOn();
    await shop.settle(first, "not_happened");
    const second = await shop.startRetry(first);
    (await shop.executor()).wake();
    await shop.untilCalled(2);
    await shop.crash();
    await shop.goOn();
    expect((await shop.harness.outcome(second)).error).toMatchObject({ code: "interrupted" });
    expect(await shop.latest(second)).toMatchObject({ outcome: null });
    expect(await shop.retry(first)).toMatchObject({ status: "failed", error: { code: "interrupted" } });
    expect(shop.keys).toEqual([shop.keys[0], shop.keys[0]]);
  });
});

describe("a retry of a run whose effect is open", () => {
  it("sends nothing with another input either where the step says fail, and nor does its own retry", async () => {
    const shop = await company();
    const first = await shop.interrupted(AMOUNTS);
    await shop.goOn();
    const second = await shop.retry(first, { amount: 20 });
    expect(second).toMatchObject({ status: "failed", error: { code: "interrupted" } });
    expect(await shop.retry(second.id, { amount: 10 })).toMatchObject({
      status: "failed",
      error: { code: "interrupted" },
    });
    expect(shop.keys).toHaveLength(1);
  });

  it("sends nothing where the input names the run, and so differs in each of them", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ ask: "${{ run.id }}", on_interrupted: "fail" })] });
    await shop.goOn();
    expect(await shop.retry(id)).toMatchObject({ status: "failed", error: { code: "interrupted" } });
    expect(shop.keys).toHaveLength(1);
  });

  it("sends nothing after a change of the step's retries and timeout", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "fail" })] });
    await shop.goOn();
    const { workflowId } = await shop.harness.find(id);
    await shop.harness.redefine(workflowId, {
      steps: [pay({ on_interrupted: "fail", timeout: "20s", retry: { attempts: 2 } })],
    });
    expect(await shop.retry(id)).toMatchObject({ status: "failed", error: { code: "interrupted" } });
    expect(shop.keys).toHaveLength(1);
  });

  it("does what its plan says: what happened with another input is sent again", async () => {
    const shop = await company([never, refuse]);
    const first = await shop.interrupted(AMOUNTS);
    await shop.goOn();
    await shop.settle(first, "happened", { value: "ten" });
    const second = await shop.retry(first, { amount: 20 });
    expect(second.error).toMatchObject({ code: "http_status" });
    expect((await shop.plan(second.id, { amount: 20 })).reused).toEqual([]);
    expect(await shop.retry(second.id, { amount: 20 })).toMatchObject({
      status: "succeeded",
      output: { value: "paid" },
    });
    expect(shop.keys).toHaveLength(3);
  });
});

describe("a lookup", () => {
  it("is asked by a retry of the run before it sends, although a person did not know", async () => {
    const book = await ledger((_, asked) =>
      asked === 1 ? { status: 404, body: {} } : { status: 200, body: [{ id: "p1" }] },
    );
    const shop = await company([never], book.config);
    const id = await shop.interrupted({ steps: [pay({ ...lookup(book.url), on_interrupted: "ask" })] });
    await shop.goOn();
    await shop.settle(id, "unknown");
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("failed");
    expect(await shop.retry(id)).toMatchObject({ status: "succeeded", output: { value: "p1" } });
    expect(shop.keys).toHaveLength(1);
  });

  it("is asked again by a retry of the run where it found nothing, because a request may be booked late", async () => {
    const booked: unknown[] = [];
    const book = await ledger(() => ({ status: 200, body: booked }));
    const shop = await company([cut], book.config);
    const id = await shop.start({ steps: [pay(lookup(book.url))] });
    await shop.untilEnded(id, "failed");
    booked.push({ id: "late" });
    expect(await shop.retry(id)).toMatchObject({ status: "succeeded", output: { value: "late" } });
    expect(shop.keys).toHaveLength(1);
  });

  it("has its retries again in a retry of the run", async () => {
    const book = await ledger((_, asked) =>
      asked > 3 ? { status: 200, body: [{ id: "p1" }] } : { status: 503, body: {} },
    );
    const shop = await company([never], book.config);
    const retry = { attempts: 2, initial: "1s", backoff: "fixed" };
    const id = await shop.interrupted({ steps: [pay(lookup(book.url, { retry }))] });
    await shop.goOnFor(2, 5_000);
    expect((await shop.harness.outcome(id)).status).toBe("failed");
    expect(book.urls).toHaveLength(2);
    const next = await shop.retry(id);
    await shop.goOnFor(1, 5_000);
    expect(await shop.harness.outcome(next.id)).toMatchObject({
      status: "succeeded",
      output: { value: "p1" },
    });
    expect(book.urls).toHaveLength(4);
    expect(shop.keys).toHaveLength(1);
  });

  it("leaves the step its retries where it fails", async () => {
    const book = await ledger(() => ({ status: 503, body: {} }));
    const shop = await company([cut, busy], book.config);
    const asking = lookup(book.url, { retry: { attempts: 2, initial: "10s", backoff: "fixed" } });
    const id = await shop.start({
      steps: [pay({ ...asking, on_interrupted: "ask", retry: { attempts: 3, initial: "0s" } })],
    });
    await shop.goOnFor(4, 20_000);
    expect((await shop.harness.outcome(id)).status).toBe("waiting");
    await shop.settle(id, "not_happened");
    await shop.goOnFor(4, 20_000);
    expect((await shop.harness.outcome(id)).status).toBe("succeeded");
    expect(shop.keys).toHaveLength(3);
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
  });

  it("can't tell where its output is larger than that of a step may be", async () => {
    const book = await ledger(() => ({ status: 200, body: [{ id: "x".repeat(900_000) }] }));
    const shop = await company([never], book.config);
    const id = await shop.interrupted({
      steps: [
        pay(lookup(book.url, { output: { value: "${{ [1, 2, 3, 4, 5].map(n, result.body[0].id) }}" } })),
      ],
    });
    await shop.goOn();
    expect((await shop.harness.outcome(id)).error).toMatchObject({ code: "interrupted" });
    expect((await shop.latest(id)).lookup!.error).toContain("4,194,304 bytes");
    expect(shop.keys).toHaveLength(1);
  });
});

describe("an interrupted effect of a child run", () => {
  it.each([
    ["without on", {}],
    ["on child_failed", { on: ["child_failed"] }],
  ])("is not sent again by the retries of the step that calls it: %s", async (_, on) => {
    const shop = await company();
    const child = await shop.harness.define({ steps: [pay({ on_interrupted: "fail" })] });
    const call = { id: "call", type: "workflow", workflow: child };
    const id = await shop.interrupted({
      steps: [{ ...call, retry: { attempts: 3, initial: "0s", ...on } }],
    });
    await shop.goOnFor(1, 100_000);
    expect((await shop.harness.outcome(id)).status).toBe("failed");
    expect(shop.keys).toHaveLength(1);
  });

  it("makes who settled it a cause of the run above, for its approvals", async () => {
    const shop = await company();
    const child = await shop.harness.define({ steps: [pay({ on_interrupted: "ask" })] });
    const id = await shop.interrupted({
      steps: [
        { id: "call", type: "workflow", workflow: child },
        { id: "ok", type: "approval", message: "Pay ${{ string(steps.call.output) }}?" },
      ],
    });
    await shop.goOn();
    const { childRun } = (await shop.runs.step({ runId: id, stepId: "call", item: null }))!;
    await shop.settle(childRun!, "happened", { value: "by ada" });
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("waiting");
    expect(await kindsOfCauses(shop, childRun!)).toContain("settled");
    expect(await kindsOfCauses(shop, id)).toContain("settled");
  });
});

describe("who settles an interruption", () => {
  it("is a cause of a retry that takes their output, also where it had started before", async () => {
    const shop = await company();
    const first = await shop.interrupted({ steps: [pay({ on_interrupted: "fail" })] });
    const queue = await shop.executor();
    await shop.goOn();
    await queue.stop(0);
    const second = await shop.startRetry(first);
    expect(await kindsOfCauses(shop, second)).not.toContain("settled");
    await shop.settle(first, "happened", { value: "by ada" });
    await shop.goOn();
    expect((await shop.harness.outcome(second)).output).toEqual({ value: "by ada" });
    expect(await kindsOfCauses(shop, second)).toContain("settled");
  });

  it("gives the step exactly what they wrote: long numbers as text, and any name of a field", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
    await shop.goOn();
    const text = '{"value":"12345678901234567890","more":{"__proto__":{"x":1}}}';
    await shop.settle(id, "happened", new EncodedJson(text));
    await shop.goOn();
    expect((await shop.runs.outputJson({ runId: id, stepId: "pay", item: null }))!.text).toBe(text);
  });

  it("gives an item of a fan-out the fields of an output, with null where they know none", async () => {
    const shop = await company();
    const id = await shop.interrupted(eachOf("[1]"));
    await shop.goOn();
    await shop.settle(id, "happened", null, 0);
    await shop.goOn();
    expect(await shop.runs.output({ runId: id, stepId: "pay", item: 0 })).toEqual({ value: null });
  });

  it("is refused where the run was purged meanwhile", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "fail" })] });
    await shop.goOn();
    const open = await shop.latest(id);
    shop.harness.clock.advance(HOUR);
    const now = shop.harness.now();
    await shop.harness.transaction(async (tx) => void (await tx.runs.purge(now, now, 1_000)));
    expect(await shop.settleOf(open, "unknown")).toBe(false);
  });
});

describe("a fan-out with several interrupted items", () => {
  it("waits until each of them is settled, in any order", async () => {
    const shop = await company([never, never, never]);
    const id = await shop.interrupted(eachOf("[1, 2, 3, 4]"), 3);
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "waiting", states: ["waiting"] });
    await shop.settle(id, "not_happened", null, 1);
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "waiting", states: ["waiting"] });
    await shop.settle(id, "happened", { value: "first" }, 0);
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "waiting", states: ["waiting"] });
    await shop.settle(id, "happened", { value: "third" }, 2);
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "succeeded",
      output: { items: [{ value: "first" }, { value: "paid" }, { value: "third" }, { value: "paid" }] },
    });
    expect(await itemsOf(shop, id)).toMatchObject({ total: 4, done: 4, failed: 0, started: 4 });
    expect(shop.keys).toHaveLength(5);
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
  });

  it("fails with one of them, and sends nothing that is settled after its end", async () => {
    const shop = await company([never, never, never]);
    const id = await shop.interrupted(eachOf("[1, 2, 3, 4]"), 3);
    await shop.goOn();
    await shop.settle(id, "unknown", null, 1);
    await shop.goOn();
    const { length: calls } = shop.keys;
    expect((await shop.harness.outcome(id)).status).toBe("failed");
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
    expect(await shop.interruptions.openCounts([id])).toEqual(new Map([[id, 2]]));
    expect(await shop.settle(id, "not_happened", null, 2)).toBe(true);
    await shop.goOn();
    expect(shop.keys).toHaveLength(calls);
  });

  it("counts each of them once where all are settled at once", async () => {
    const shop = await company([never, never, never]);
    const id = await shop.interrupted(eachOf("[1, 2, 3]", { on_error: "continue" }), 3);
    await shop.goOn();
    await Promise.all([
      shop.settle(id, "unknown", null, 0),
      shop.settle(id, "happened", { value: "by ada" }, 1),
      shop.settle(id, "not_happened", null, 2),
    ]);
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("succeeded");
    expect(await itemsOf(shop, id)).toMatchObject({ total: 3, done: 3, failed: 1 });
    expect(shop.keys).toHaveLength(4);
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
  });
});

describe("a step that waits for a person", () => {
  it("ends with the timeout of its run", async () => {
    const shop = await company();
    const id = await shop.interrupted({ timeout: "1h", steps: [pay({ on_interrupted: "ask" })] });
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("waiting");
    shop.harness.clock.advance(HOUR + MINUTE);
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "failed",
      error: { code: "run_timeout" },
    });
    expect(await shop.interruptions.openCounts([id])).toEqual(new Map([[id, 1]]));
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
  });

  it("ends where another step fails the run, and can be settled afterwards", async () => {
    const shop = await company();
    const id = await shop.interrupted({
      steps: [
        pay({ on_interrupted: "ask" }),
        { id: "pause", type: "wait", for: "10s", needs: [] },
        { id: "gate", type: "assert", that: "1 == 2", message: "closed", needs: ["pause"] },
      ],
    });
    await shop.goOnFor(1, 20_000);
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "failed",
      error: { code: "assert_failed" },
    });
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
    expect(await shop.settle(id, "happened", { value: "by ada" })).toBe(true);
    expect(shop.keys).toHaveLength(1);
  });

  it("goes on with its repeat loop in the iteration that was interrupted", async () => {
    const shop = await company([() => "one", never]);
    const repeat = { until: "loop.index >= 2", max: 5, every: "5s" };
    const id = await shop.start({ steps: [pay({ repeat, on_interrupted: "ask" })] });
    await shop.goOn();
    expect(shop.keys).toHaveLength(1);
    shop.harness.clock.advance(6_000);
    (await shop.executor()).wake();
    await shop.untilCalled(2);
    await shop.crash();
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("waiting");
    await shop.settle(id, "not_happened", null, 1);
    await shop.goOnFor(6, 6_000);
    expect((await shop.harness.outcome(id)).status).toBe("succeeded");
    expect(shop.keys).toHaveLength(4);
    expect(shop.keys[2]).toBe(shop.keys[1]);
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
  });
});
