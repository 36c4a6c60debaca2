/** What happens at the same time as a decision about an interrupted effect: each ends in one way, and nothing is sent twice. */
import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/core/errors.ts";
import { untilPassing } from "../../support/eventually.ts";
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

const FOUND = { status: 200, body: [{ id: "p1" }] };
const NOT_FOUND = { status: 200, body: [] };
const UNABLE = { status: 404, body: {} };

/** A ledger whose first answer waits until it is released. */
async function slowLedger(answer: { status: number; body: unknown }) {
  const gate = Promise.withResolvers<void>();
  const book = await ledger(async (_, asked) => {
    if (asked === 1) await gate.promise;
    return answer;
  });
  return {
    ...book,
    release: gate.resolve,
    untilAsked: () => untilPassing(() => expect(book.urls).toHaveLength(1)),
  };
}

/** An executor that does something once, before the first change that a step records. */
function beforeFirstRecord({ executor, harness }: Company, act: () => Promise<unknown>) {
  let hasActed = false;
  return executor((job, context) =>
    harness.engine.handler(job, {
      ...context,
      async record(change, size) {
        if (!hasActed && job.kind === "step") {
          hasActed = true;
          await act();
        }
        return context.record(change, size);
      },
    }),
  );
}

/** An executor that does something once, between the end of a step's attempt and the transaction that saves it. */
function beforeFirstSave({ executor, harness }: Company, act: () => Promise<unknown>) {
  let hasActed = false;
  return executor(async (job, context) => {
    const result = await harness.engine.handler(job, context);
    if (!hasActed && job.kind === "step") {
      hasActed = true;
      await act();
    }
    return result;
  });
}

const unavailable = (): Promise<never> =>
  Promise.reject(new AppError("storage_unavailable", "gone for a moment"));

describe("what a person says while a lookup is on its way", () => {
  it("counts where the lookup can't tell, and the step does not wait for an answer that was given", async () => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const book = await ledger(async () => {
      await meanwhile?.();
      return UNABLE;
    });
    const shop = await company([never], book.config);
    const id = await shop.interrupted({ steps: [pay({ ...lookup(book.url), on_interrupted: "ask" })] });
    meanwhile = () => shop.settle(id, "happened", { value: "by ada" });
    await shop.goOn();
    expect(await shop.latest(id)).toMatchObject({ outcome: "happened", settledBy: "ada@example.com" });
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "succeeded",
      output: { value: "by ada" },
    });
    expect(shop.keys).toHaveLength(1);
  });

  it("counts more than a lookup that found nothing", async () => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const book = await ledger(async () => {
      await meanwhile?.();
      return NOT_FOUND;
    });
    const shop = await company([never], book.config);
    const id = await shop.interrupted({ steps: [pay(lookup(book.url))] });
    meanwhile = () => shop.settle(id, "happened", { value: "by ada" });
    await shop.goOn();
    expect(await shop.latest(id)).toMatchObject({ outcome: "happened", settledBy: "ada@example.com" });
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "succeeded",
      output: { value: "by ada" },
    });
    expect(shop.keys).toHaveLength(1);
  });
});

describe("what a person says while the step waits to ask its lookup again", () => {
  it.each([
    ["happened", "succeeded", 1],
    ["unknown", "failed", 1],
    ["not_happened", "running", 1],
  ] as const)("ends the wait, unless the effect has to be sent: %s", async (outcome, status, sent) => {
    const book = await ledger(() => UNABLE);
    const shop = await company([never], book.config);
    const retry = { attempts: 5, initial: "1h", max: "1h", backoff: "fixed", on: ["http_status"] };
    const id = await shop.interrupted({
      steps: [pay({ ...lookup(book.url, { retry }), on_interrupted: "ask" })],
    });
    await shop.goOn();
    expect(await shop.harness.read.jobs.depth()).toEqual({ ...NO_JOBS, later: 1 });
    await shop.settle(id, outcome, outcome === "happened" ? { value: "by ada" } : null);
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe(status);
    expect(shop.keys).toHaveLength(sent);
  });
});

describe("what a person says while an attempt begins or ends", () => {
  it("keeps an attempt from being sent that has not started yet", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay()] });
    const queue = await beforeFirstRecord(shop, () => shop.settle(id, "happened", { value: "by ada" }));
    queue.wake();
    await shop.untilEnded(id, "succeeded");
    expect((await shop.harness.outcome(id)).output).toEqual({ value: "by ada" });
    expect(shop.keys).toHaveLength(1);
  });

  it("wakes a step that is about to wait for it", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
    const queue = await beforeFirstSave(shop, () => shop.settle(id, "happened", { value: "by ada" }));
    queue.wake();
    await shop.untilEnded(id, "succeeded");
    expect((await shop.harness.outcome(id)).output).toEqual({ value: "by ada" });
    expect(shop.keys).toHaveLength(1);
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
  });

  it("is kept where the step fails at the same time, and a retry takes it", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "fail" })] });
    const queue = await beforeFirstSave(shop, () => shop.settle(id, "happened", { value: "by ada" }));
    queue.wake();
    await shop.untilEnded(id, "failed");
    expect(await shop.retry(id)).toMatchObject({ status: "succeeded", output: { value: "by ada" } });
    expect(shop.keys).toHaveLength(1);
  });
});

describe("two people", () => {
  it("settle an interruption once, and the step goes on once", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
    await shop.goOn();
    const answers = await Promise.all([
      shop.settle(id, "not_happened"),
      shop.settle(id, "happened", { value: "booked" }),
    ]);
    expect(answers.filter(Boolean)).toHaveLength(1);
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("succeeded");
    expect(shop.keys).toHaveLength((await shop.latest(id)).outcome === "happened" ? 1 : 2);
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
  });

  it("settle and stop a run at once: it is cancelled, and nothing is sent", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
    await shop.goOn();
    await Promise.all([shop.settle(id, "not_happened"), shop.harness.stop(id)]);
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("cancelled");
    expect(shop.keys).toHaveLength(1);
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
  });
});

describe("an executor that stops during a lookup", () => {
  it.each([
    ["without retries", {}, {}],
    ["with retries", { retry: { attempts: 3, initial: "0s" } }, {}],
    ["with on_interrupted: retry", {}, { on_interrupted: "retry" }],
    ["with on_interrupted: ask", {}, { on_interrupted: "ask" }],
  ])("decides nothing, and the next one asks again: %s", async (_, ofLookup, ofStep) => {
    const book = await slowLedger(FOUND);
    const shop = await company([never], book.config);
    const id = await shop.interrupted({ steps: [pay({ ...lookup(book.url, ofLookup), ...ofStep })] });
    const queue = await shop.executor();
    queue.wake();
    await book.untilAsked();
    await queue.stop(0);
    book.release();
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "succeeded", output: { value: "p1" } });
    expect(await shop.latest(id)).toMatchObject({ outcome: "happened", isAsked: false });
    expect(book.urls).toHaveLength(2);
    expect(shop.keys).toHaveLength(1);
  });
});

describe("a run that is stopped during a lookup", () => {
  it.each([
    ["with a lookup alone", {}],
    ["where a person would be asked", { on_interrupted: "ask" }],
  ])("is cancelled, sends nothing, and the lookup has not failed: %s", async (_, more) => {
    const book = await slowLedger(NOT_FOUND);
    const shop = await company([never], book.config);
    const id = await shop.interrupted({ steps: [pay({ ...lookup(book.url), ...more })] });
    (await shop.executor()).wake();
    await book.untilAsked();
    await shop.harness.stop(id);
    await shop.untilEnded(id, "cancelled");
    book.release();
    expect((await shop.harness.outcome(id)).states).toEqual(["cancelled"]);
    expect(await shop.latest(id)).toMatchObject({ lookup: null, outcome: null });
    expect(shop.keys).toHaveLength(1);
    expect(await shop.harness.read.jobs.depth()).toEqual(NO_JOBS);
  });
});

describe("a storage that is unavailable for a moment", () => {
  it.each([
    ["without on_interrupted", {}],
    ["with on_interrupted: retry", { on_interrupted: "retry" }],
  ])("decides nothing: the lookup is asked later, and nothing is sent before: %s", async (_, more) => {
    const book = await ledger(() => FOUND);
    const shop = await company([never], book.config);
    const id = await shop.interrupted({ steps: [pay({ ...lookup(book.url), ...more })] });
    const queue = await beforeFirstRecord(shop, unavailable);
    queue.wake();
    await queue.waitUntilIdle();
    expect((await shop.harness.outcome(id)).status).toBe("running");
    shop.harness.clock.advance(30_000);
    queue.wake();
    await shop.untilEnded(id, "succeeded");
    expect((await shop.harness.outcome(id)).output).toEqual({ value: "p1" });
    expect(book.urls).toHaveLength(1);
    expect(shop.keys).toHaveLength(1);
  });
});

describe("several executors", () => {
  it("send an effect once that a person lets them send", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
    const queues = [await shop.executor(), await shop.executor()];
    const goOn = async (): Promise<void> => {
      for (const queue of queues) queue.wake();
      await Promise.all(queues.map((queue) => queue.waitUntilIdle()));
    };
    await goOn();
    expect((await shop.harness.outcome(id)).status).toBe("waiting");
    await shop.settle(id, "not_happened");
    await goOn();
    expect((await shop.harness.outcome(id)).status).toBe("succeeded");
    expect(shop.keys).toHaveLength(2);
    const attempts = await shop.runs.lastAttempts({ runId: id, stepId: "pay", item: null }, 10);
    expect(attempts.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, "interrupted"],
      [2, "succeeded"],
    ]);
  });

  it("go on with what a person said, one after the other, where they crash after it", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
    await shop.goOn();
    await shop.crash();
    await shop.settle(id, "not_happened");
    await shop.crash();
    await shop.goOn();
    await shop.crash();
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("succeeded");
    expect(shop.keys).toHaveLength(2);
  });
});

describe("a request that arrives after the lookup has asked for it", () => {
  it("is found by the lookup before the next repetition", async () => {
    const booked: unknown[] = [];
    const book = await ledger(() => ({ status: 200, body: booked }));
    const shop = await company([cut, busy], book.config);
    const retry = { attempts: 4, initial: "1m", backoff: "fixed" };
    const id = await shop.start({ steps: [pay({ ...lookup(book.url), retry })] });
    await shop.goOnFor(1, 61_000);
    expect(shop.keys).toHaveLength(2);
    booked.push({ id: "late" });
    shop.harness.clock.advance(61_000);
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "succeeded", output: { value: "late" } });
    expect(shop.keys).toHaveLength(2);
  });
});
