/** A company that pays once: an engine whose executors die in the middle of a payment, and a ledger that knows of it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished } from "vitest";
import type { InterruptionOutcome } from "../../schemas/interruption.ts";
import { EncodedJson, encodeJson } from "../../src/core/encoded-json.ts";
import type { RunRequest } from "../../src/core/engine-port.ts";
import type { InterruptionRecord } from "../../src/core/interruption-ports.ts";
import { personalCause } from "../../src/core/run-causes.ts";
import { StepError } from "../../src/core/step-errors.ts";
import type { StepContext } from "../../src/core/step-type.ts";
import { retryPlanner } from "../../src/engine/executor/retry-planner.ts";
import { recordAbandoned } from "../../src/engine/run-state/end-run.ts";
import { settleInterruption } from "../../src/engine/run-state/interruptions.ts";
import { TEST_ACTOR, type TestEngine, testEngine } from "./engine.ts";
import { untilPassing } from "./eventually.ts";

type Executor = Awaited<ReturnType<TestEngine["executor"]>>;
type Handler = Parameters<TestEngine["executor"]>[0];
type Inputs = Record<string, unknown>;

/** The step that pays. */
export const pay = (more: object = {}) => ({ id: "pay", type: "probe", ask: "pay", ...more });

/** Who settles, as a cause of the runs that go on with what she said. */
const ADA = personalCause(
  "settled",
  { owner: "ada@example.com", keyName: "", lineage: "ada@example.com" },
  "int_1",
);

/** The depth of a queue without jobs. */
export const NO_JOBS = { ready: 0, later: 0, claimed: 0 };

/** How long an executor that dies would wait for its steps, in milliseconds. It does not: it is stopped once more. */
const DYING_MS = 60_000;

/** A call that does not return before the executor ends, as if the process died during it. */
export const never = ({ signal }: StepContext): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

/** A call whose connection breaks after it was sent. */
export const cut = (): never => {
  throw new StepError("http_failed", "cut", { unanswered: true });
};

/** A call that the receiver refuses for now. */
export const busy = (): never => {
  throw new StepError("http_status", "POST answered 503", { transient: true });
};

/** An engine whose probes record the keys that they are called with; `answers` are theirs in order, then `paid`. */
export async function company(
  answers: readonly ((context: StepContext) => unknown)[] = [never],
  config: object = {},
) {
  const harness = await testEngine({ config });
  const keys: string[] = [];
  harness.onProbe((_, context) => {
    keys.push(context.idempotencyKey);
    return answers[keys.length - 1]?.(context) ?? "paid";
  });
  const { interruptions, runs } = harness.read;
  const living = new Set<Executor>();
  let isCrashing = false;
  const { jobs } = harness.read;
  const { hasClaimable } = jobs;
  jobs.hasClaimable = async (...query) => (await hasClaimable(...query)) && !isCrashing;

  /** Starts an executor. */
  async function executor(handler?: Handler) {
    const queue = await harness.executor(handler);
    living.add(queue);
    return {
      ...queue,
      async stop(graceMs: number) {
        living.delete(queue);
        await queue.stop(graceMs);
      },
    };
  }

  /** An executor that lives, or a new one. */
  const anyExecutor = async (): Promise<Executor> => living.values().next().value ?? executor();

  /** Ends all executors as if their processes had died: others find that, and nothing that they still do is saved. */
  async function crash() {
    const dying = [...living];
    living.clear();
    // From now on they claim nothing, not even if they have begun to look.
    isCrashing = true;
    const stopped = dying.map((queue) => queue.stop(DYING_MS));
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
    await Promise.all(dying.map((queue) => queue.stop(0)));
    await Promise.all(stopped);
    isCrashing = false;
  }

  /** Lets an executor do all that can be done now. */
  async function goOn() {
    const queue = await anyExecutor();
    queue.wake();
    await queue.waitUntilIdle();
  }

  /** Goes on several times, and lets time pass after each. */
  async function goOnFor(times: number, ms: number) {
    for (let turn = 0; turn < times; turn += 1) {
      await goOn();
      harness.clock.advance(ms);
    }
    await goOn();
  }

  /** Starts a run, and an executor for it if none lives. */
  async function start(definition: object, request: Partial<RunRequest> = {}) {
    const id = await harness.start(await harness.define({ ...definition }), request);
    (await anyExecutor()).wake();
    return id;
  }

  const untilCalled = (calls: number) => untilPassing(() => expect(keys).toHaveLength(calls));

  const untilEnded = (id: string, status: "failed" | "cancelled" | "succeeded" | "waiting") =>
    untilPassing(async () => expect((await harness.outcome(id)).status).toBe(status));

  /** Starts a run, and crashes its executor in the `calls`th call. */
  async function interrupted(definition: object, calls = 1) {
    const id = await start(definition);
    await untilCalled(calls);
    await crash();
    return id;
  }

  /** The newest interruption of the step `pay`. */
  const latest = async (runId: string, item: number | null = null) =>
    (await interruptions.latest({ runId, stepId: "pay", item }))!;

  /** All interruptions of a run, the oldest attempt first. */
  const all = async (runId: string) => {
    const { items } = await interruptions.page({ filter: { runId }, after: null, limit: 20 });
    return items.toSorted((a, b) => a.attempt - b.attempt);
  };

  /** Settles an interruption, as Ada. @returns whether she was the first */
  const settleOf = (
    interruption: InterruptionRecord,
    outcome: InterruptionOutcome,
    output: object | null = null,
  ) =>
    harness.transaction((tx) =>
      settleInterruption(harness.engine.context, tx, interruption, {
        outcome,
        output: output === null || output instanceof EncodedJson ? output : encodeJson(output),
        settledBy: "ada@example.com",
        comment: "Seen in the ledger.",
        settler: ADA,
      }),
    );

  /** Settles the newest interruption of the step `pay`, as Ada. @returns whether she was the first */
  const settle = async (
    runId: string,
    outcome: InterruptionOutcome,
    output: object | null = null,
    item: number | null = null,
  ) => settleOf(await latest(runId, item), outcome, output);

  /** Starts a retry of a run, without an executor. */
  async function startRetry(id: string, inputs: Inputs = {}) {
    const retryOf = await harness.find(id);
    return harness.start(retryOf.workflowId, { retryOf, inputs });
  }

  /** Retries a run, and lets an executor do all that can be done now. */
  async function retry(id: string, inputs: Inputs = {}) {
    const next = await startRetry(id, inputs);
    await goOn();
    return { id: next, ...(await harness.outcome(next)) };
  }

  /** What a retry of a run would do. */
  async function plan(id: string, inputs: Inputs = {}) {
    const retryOf = await harness.find(id);
    const { workflowId } = retryOf;
    const prepared = await harness.engine.prepareRun({
      workflowId,
      caller: null,
      inputs,
      actor: TEST_ACTOR,
      trigger: "rest",
      retryOf,
    });
    return retryPlanner(harness.read, harness.engine, harness.stepTypes)(retryOf, prepared);
  }

  return {
    harness,
    keys,
    runs,
    interruptions,
    executor,
    crash,
    goOn,
    goOnFor,
    start,
    untilCalled,
    untilEnded,
    interrupted,
    latest,
    all,
    settle,
    settleOf,
    startRetry,
    retry,
    plan,
  };
}

export type Company = Awaited<ReturnType<typeof company>>;

interface LedgerAnswer {
  status: number;
  body: unknown;
}

/** A ledger that answers lookups over HTTP. */
export async function ledger(answer: (url: string, asked: number) => LedgerAnswer | Promise<LedgerAnswer>) {
  const urls: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      urls.push(request.url!);
      const { status, body } = await answer(request.url!, urls.length);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { urls, url: `http://127.0.0.1:${port}`, config: { http: { allowed_hosts: ["127.0.0.1"] } } };
}

/** The lookup of a step that asks a ledger. */
export const lookup = (url: string, more: object = {}) => ({
  lookup: {
    type: "http",
    url: `${url}/payments?key=\${{ idempotency_key }}`,
    happened: "size(result.body) > 0",
    output: { value: "${{ result.body[0].id }}" },
    ...more,
  },
});
