import { describe, expect, it, onTestFinished } from "vitest";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { InterruptionOutcome } from "../../../schemas/interruption.ts";
import type { RunRequest } from "../../../src/core/engine-port.ts";
import { encodeJson } from "../../../src/core/encoded-json.ts";
import { personalCause } from "../../../src/core/run-causes.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import type { StepContext } from "../../../src/core/step-type.ts";
import { retryPlanner } from "../../../src/engine/executor/retry-planner.ts";
import { recordAbandoned } from "../../../src/engine/run-state/end-run.ts";
import { settleInterruption } from "../../../src/engine/run-state/interruptions.ts";
import { TEST_ACTOR, testEngine } from "../../support/engine.ts";
import { untilPassing } from "../../support/eventually.ts";

const pay = (more: object = {}) => ({ id: "pay", type: "probe", ask: "pay", ...more });
const ADA = personalCause(
  "settled",
  { owner: "ada@example.com", keyName: "", lineage: "ada@example.com" },
  "int_1",
);
const REF = { stepId: "pay", item: null };

/** A call that does not return before the executor ends, as if the process died during it. */
const never = ({ signal }: StepContext): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

/** A call whose connection breaks after it was sent. */
const cut = (): never => {
  throw new StepError("http_failed", "cut", { unanswered: true });
};

/** An engine whose probes record the keys that they are called with; `answers` are theirs in order, then `paid`. */
async function company(answers: ((context: StepContext) => unknown)[] = [never], config: object = {}) {
  const harness = await testEngine({ config });
  const keys: string[] = [];
  harness.onProbe((_, context) => {
    keys.push(context.idempotencyKey);
    return answers[keys.length - 1]?.(context) ?? "paid";
  });
  const { interruptions, runs } = harness.read;

  /** Ends all executors as if their processes had died, and lets a new one go on. */
  async function crash() {
    await harness.transaction(async (tx) => {
      for (const { id } of await tx.jobs.executors()) {
        await tx.jobs.reclaim(id);
        const abandoned = await tx.runs.interruptAttempts(id, harness.now());
        await recordAbandoned(harness.engine.context, tx, abandoned, {
          status: "interrupted",
          at: harness.now(),
        });
      }
    });
  }

  async function goOn() {
    const queue = await harness.executor();
    queue.wake();
    await queue.waitUntilIdle();
  }

  async function start(definition: object, request: Partial<RunRequest> = {}) {
    const id = await harness.start(await harness.define({ ...definition }), request);
    const queue = await harness.executor();
    queue.wake();
    return id;
  }

  /** Starts a run, and crashes its executor in the `calls`th call. */
  async function interrupted(definition: object, calls = 1) {
    const id = await start(definition);
    await untilPassing(() => expect(keys).toHaveLength(calls));
    await crash();
    return id;
  }

  const latest = async (runId: string, item: number | null = null) =>
    (await interruptions.latest({ ...REF, item, runId }))!;

  const settle = async (runId: string, outcome: InterruptionOutcome, output: object | null = null) => {
    const open = await latest(runId);
    return harness.transaction((tx) =>
      settleInterruption(harness.engine.context, tx, open, {
        outcome,
        output: output && encodeJson(output),
        settledBy: "ada@example.com",
        comment: "Seen in the ledger.",
        settler: ADA,
      }),
    );
  };

  const retry = async (id: string) => {
    const retryOf = await harness.find(id);
    const next = await harness.start(retryOf.workflowId, { retryOf });
    await goOn();
    return { id: next, ...(await harness.outcome(next)) };
  };

  return { harness, keys, runs, interruptions, crash, goOn, start, interrupted, latest, settle, retry };
}

describe("a step with effects whose executor dies", () => {
  it("is sent again with the same key, and the run says so until somebody settles it", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay()] });
    expect(await shop.interruptions.openCounts([id])).toEqual(new Map([[id, 1]]));
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "succeeded", output: { value: "paid" } });
    expect(shop.keys).toEqual([shop.keys[0], shop.keys[0]]);
    expect(await shop.latest(id)).toMatchObject({
      runId: id,
      stepId: "pay",
      item: null,
      attempt: 1,
      reason: "executor_ended",
      idempotencyKey: shop.keys[0],
      isAsked: false,
      outcome: null,
    });
    expect(await shop.settle(id, "not_happened")).toBe(true);
    expect(await shop.settle(id, "happened")).toBe(false);
    expect(await shop.interruptions.openCounts([id])).toEqual(new Map());
    expect(await shop.latest(id)).toMatchObject({ outcome: "not_happened", settledBy: "ada@example.com" });
  });

  it("ends with interrupted where on_interrupted is fail, and is not sent again by retry", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "fail", retry: { attempts: 5 } })] });
    await shop.goOn();
    const { status, error } = await shop.harness.outcome(id);
    expect(status).toBe("failed");
    expect(error).toMatchObject({ code: "interrupted", step_id: "pay" });
    expect(error!.fix).toContain((await shop.latest(id)).id);
    expect(shop.keys).toHaveLength(1);
  });

  it("continues with the error where on_error says so", async () => {
    const shop = await company();
    const steps = [
      pay({ on_interrupted: "fail", on_error: "continue" }),
      { id: "b", type: "set", values: { code: "${{ steps.pay.error.code }}" } },
    ];
    const id = await shop.interrupted({ steps });
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "succeeded",
      output: { code: "interrupted" },
    });
  });

  it.each([
    ["happened", { value: "booked" }, 1, "succeeded", { value: "booked" }],
    ["happened", null, 1, "succeeded", { value: null }],
    ["not_happened", null, 2, "succeeded", { value: "paid" }],
    ["unknown", null, 1, "failed", null],
  ] as const)(
    "waits for a person where on_interrupted is ask: %s",
    async (outcome, output, calls, status, result) => {
      const shop = await company();
      const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
      await shop.goOn();
      expect(await shop.harness.outcome(id)).toMatchObject({ status: "waiting", states: ["waiting"] });
      expect(await shop.latest(id)).toMatchObject({ isAsked: true, outcome: null });
      expect(await shop.settle(id, outcome, output)).toBe(true);
      await shop.goOn();
      expect(await shop.harness.outcome(id)).toMatchObject({ status, output: result });
      expect(shop.keys).toHaveLength(calls);
      expect(await shop.harness.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
    },
  );

  it("asks again where the repeated attempt is interrupted too", async () => {
    const shop = await company([never, never]);
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
    await shop.goOn();
    await shop.settle(id, "not_happened");
    const queue = await shop.harness.executor();
    queue.wake();
    await untilPassing(() => expect(shop.keys).toHaveLength(2));
    await shop.crash();
    await shop.goOn();
    expect(await shop.latest(id)).toMatchObject({ attempt: 2, isAsked: true, outcome: null });
    await shop.settle(id, "happened", { value: "second" });
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "succeeded",
      output: { value: "second" },
    });
    expect(shop.keys).toHaveLength(2);
  });

  it("asks for one item of a fan-out, while the others go on", async () => {
    const shop = await company([never]);
    const id = await shop.interrupted({
      steps: [pay({ for_each: "[1, 2, 3]", concurrency: 1, on_interrupted: "ask" })],
    });
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("waiting");
    const open = await shop.latest(id, 0);
    await shop.harness.transaction((tx) =>
      settleInterruption(shop.harness.engine.context, tx, open, {
        outcome: "happened",
        output: encodeJson({ value: "by hand" }),
        settledBy: "ada@example.com",
        comment: null,
        settler: ADA,
      }),
    );
    await shop.goOn();
    const { status, output } = await shop.harness.outcome(id);
    expect(status).toBe("succeeded");
    expect(output).toMatchObject({ items: [{ value: "by hand" }, { value: "paid" }, { value: "paid" }] });
    expect(shop.keys).toHaveLength(3);
  });

  it("is cancelled while it waits for a person, and stays open", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "ask" })] });
    await shop.goOn();
    await shop.harness.stop(id);
    await shop.goOn();
    expect((await shop.harness.outcome(id)).status).toBe("cancelled");
    expect(await shop.interruptions.openCounts([id])).toEqual(new Map([[id, 1]]));
    expect(await shop.settle(id, "unknown")).toBe(true);
    expect(await shop.harness.read.jobs.depth()).toEqual({ ready: 0, later: 0, claimed: 0 });
  });
});

describe("a run whose executor stops, is cancelled or meets silence", () => {
  it("is interrupted by a stop of its executor in the middle", async () => {
    const shop = await company();
    const id = await shop.harness.start(
      await shop.harness.define({ steps: [pay({ on_interrupted: "fail" })] }),
    );
    const queue = await shop.harness.executor();
    queue.wake();
    await untilPassing(() => expect(shop.keys).toHaveLength(1));
    await queue.stop(0);
    expect(await shop.latest(id)).toMatchObject({ reason: "executor_ended", outcome: null });
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({
      status: "failed",
      error: { code: "interrupted" },
    });
  });

  it("is interrupted by a connection that breaks", async () => {
    const shop = await company([
      (): never => {
        throw new StepError("http_failed", "cut", { unanswered: true });
      },
    ]);
    const id = await shop.start({ steps: [pay()] });
    await untilPassing(async () => expect((await shop.harness.outcome(id)).status).toBe("failed"));
    expect(await shop.latest(id)).toMatchObject({ reason: "connection_lost", outcome: null });
    expect((await shop.harness.outcome(id)).error).toMatchObject({ code: "http_failed" });
  });

  it("is sent again after a lost connection as retry says, and not where on_interrupted is fail", async () => {
    const first = await company([cut]);
    const retried = await first.start({ steps: [pay({ retry: { attempts: 2, initial: "0s" } })] });
    await untilPassing(async () => expect((await first.harness.outcome(retried)).status).toBe("succeeded"));
    expect(first.keys).toHaveLength(2);
    expect(await first.latest(retried)).toMatchObject({ attempt: 1, outcome: null });

    const second = await company([cut]);
    const ended = await second.start({
      steps: [pay({ retry: { attempts: 2, initial: "0s" }, on_interrupted: "fail" })],
    });
    await untilPassing(async () => expect((await second.harness.outcome(ended)).status).toBe("failed"));
    expect((await second.harness.outcome(ended)).error).toMatchObject({ code: "interrupted" });
    expect(second.keys).toHaveLength(1);
  });

  it("is no interruption where the receiver answered", async () => {
    const shop = await company([
      (): never => {
        throw new StepError("http_status", "POST answered 503", { transient: true });
      },
    ]);
    const id = await shop.start({ steps: [pay({ on_interrupted: "ask" })] });
    await untilPassing(async () => expect((await shop.harness.outcome(id)).status).toBe("failed"));
    expect(await shop.interruptions.latest({ ...REF, runId: id })).toBeUndefined();
  });
});

describe("a retry of a run with an open interruption", () => {
  it("is not sent before it is settled, then takes the output that a person has given", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "fail" })] });
    await shop.goOn();
    const early = await shop.retry(id);
    expect(early).toMatchObject({ status: "failed", error: { code: "interrupted" } });
    expect(early.error!.message).toContain(id);
    await shop.settle(id, "happened", { value: "booked" });
    const late = await shop.retry(early.id);
    expect(late).toMatchObject({ status: "succeeded", output: { value: "booked" } });
    expect((await shop.runs.step({ ...REF, runId: late.id }))!.reusedFrom).toBe(id);
    expect(shop.keys).toHaveLength(1);
  });

  it("is planned as a step whose output is reused, once it is known to have happened", async () => {
    const shop = await company();
    const id = await shop.interrupted({ steps: [pay({ on_interrupted: "fail" })] });
    await shop.goOn();
    const plan = async () => {
      const retryOf = await shop.harness.find(id);
      const prepared = await shop.harness.engine.prepareRun({
        workflowId: retryOf.workflowId,
        caller: null,
        inputs: {},
        actor: TEST_ACTOR,
        trigger: "rest",
        retryOf,
      });
      return retryPlanner(shop.harness.read, shop.harness.engine, shop.harness.stepTypes)(retryOf, prepared);
    };
    expect(await plan()).toMatchObject({ again: ["pay"], reused: [] });
    await shop.settle(id, "happened", { value: "booked" });
    expect(await plan()).toMatchObject({ again: [], reused: ["pay"], run: [] });
  });

  it("is another effect with another input, so it is sent", async () => {
    const shop = await company();
    const id = await shop.interrupted({
      steps: [pay({ ask: "${{ inputs.amount }}", on_interrupted: "fail" })],
      inputs: { type: "object", properties: { amount: { type: "integer", default: 10 } } },
    });
    await shop.goOn();
    await shop.settle(id, "happened", { value: "booked" });
    const retryOf = await shop.harness.find(id);
    const next = await shop.harness.start(retryOf.workflowId, { retryOf, inputs: { amount: 20 } });
    await shop.goOn();
    expect(await shop.harness.outcome(next)).toMatchObject({ output: { value: "paid" } });
    expect(shop.keys).toHaveLength(2);
  });

  it("is sent again where the effect did not happen, or nobody knows", async () => {
    for (const outcome of ["not_happened", "unknown"] as const) {
      const shop = await company();
      const id = await shop.interrupted({ steps: [pay({ on_interrupted: "fail" })] });
      await shop.goOn();
      await shop.settle(id, outcome);
      expect(await shop.retry(id)).toMatchObject({ status: "succeeded", output: { value: "paid" } });
      expect(shop.keys).toHaveLength(2);
    }
  });
});

/** A ledger that answers lookups over HTTP. */
async function ledger(answer: (url: string, asked: number) => { status: number; body: unknown }) {
  const urls: string[] = [];
  const server = createServer((request, response) => {
    urls.push(request.url!);
    const { status, body } = answer(request.url!, urls.length);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { urls, url: `http://127.0.0.1:${port}`, config: { http: { allowed_hosts: ["127.0.0.1"] } } };
}

const lookup = (url: string, more: object = {}) => ({
  lookup: {
    type: "http",
    url: `${url}/payments?key=\${{ idempotency_key }}`,
    happened: "size(result.body) > 0",
    output: { value: "${{ result.body[0].id }}" },
    ...more,
  },
});

describe("a step with a lookup", () => {
  it("takes what the lookup finds, and is not sent again", async () => {
    const book = await ledger(() => ({ status: 200, body: [{ id: "p1" }] }));
    const shop = await company([never], book.config);
    const id = await shop.interrupted({ steps: [pay(lookup(book.url))] });
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "succeeded", output: { value: "p1" } });
    expect(shop.keys).toHaveLength(1);
    expect(book.urls).toEqual([`/payments?key=${encodeURIComponent(shop.keys[0]!)}`]);
    expect(await shop.latest(id)).toMatchObject({
      outcome: "happened",
      settledBy: null,
      lookup: { error: null },
    });
  });

  it("is sent again where the lookup finds nothing", async () => {
    const book = await ledger(() => ({ status: 200, body: [] }));
    const shop = await company([never], book.config);
    const id = await shop.interrupted({ steps: [pay(lookup(book.url, {}))] });
    await shop.goOn();
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "succeeded", output: { value: "paid" } });
    expect(shop.keys).toHaveLength(2);
    expect(await shop.latest(id)).toMatchObject({ outcome: "not_happened", settledBy: null });
  });

  it("fails, asks or is sent again as on_interrupted says where the lookup can't tell", async () => {
    const book = await ledger(() => ({ status: 404, body: {} }));
    const results: unknown[] = [];
    for (const said of [undefined, "fail", "ask", "retry"]) {
      const shop = await company([never], book.config);
      const id = await shop.interrupted({
        steps: [pay({ ...lookup(book.url), ...(said !== undefined && { on_interrupted: said }) })],
      });
      await shop.goOn();
      const { status } = await shop.harness.outcome(id);
      results.push([said, status, shop.keys.length, (await shop.latest(id)).outcome]);
      expect((await shop.latest(id)).lookup).toMatchObject({
        error: expect.stringContaining("404") as string,
      });
    }
    expect(results).toEqual([
      [undefined, "failed", 1, null],
      ["fail", "failed", 1, null],
      ["ask", "waiting", 1, null],
      ["retry", "succeeded", 2, null],
    ]);
  });

  it("asks a lookup that fails again, as its retry says", async () => {
    const book = await ledger((_, asked) =>
      asked < 3 ? { status: 503, body: {} } : { status: 200, body: [{ id: "late" }] },
    );
    const shop = await company([never], book.config);
    const id = await shop.interrupted({
      steps: [pay(lookup(book.url, { retry: { attempts: 3, initial: "10s", backoff: "fixed" } }))],
    });
    await shop.goOn();
    expect(book.urls).toHaveLength(1);
    expect((await shop.latest(id)).lookup).toMatchObject({ failures: 1 });
    for (let turn = 0; turn < 2; turn += 1) {
      shop.harness.clock.advance(10_000);
      await shop.goOn();
    }
    expect(book.urls).toHaveLength(3);
    expect(await shop.harness.outcome(id)).toMatchObject({ status: "succeeded", output: { value: "late" } });
    expect(shop.keys).toHaveLength(1);
  });

  it("ends with the failure of a lost connection that the lookup did not find, where retry is over", async () => {
    const book = await ledger(() => ({ status: 200, body: [] }));
    const shop = await company([cut, cut, cut, cut], book.config);
    const id = await shop.start({
      steps: [pay({ ...lookup(book.url), retry: { attempts: 2, initial: "0s" } })],
    });
    await untilPassing(async () => expect((await shop.harness.outcome(id)).status).toBe("failed"));
    expect((await shop.harness.outcome(id)).error).toMatchObject({ code: "http_failed", message: "cut" });
    expect(shop.keys).toHaveLength(2);
  });
});
