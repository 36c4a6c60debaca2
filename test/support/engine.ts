/** An engine on a new store, with executors in this process and step types that the test controls. */
import { newLinkToken } from "../../src/auth/links.ts";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { Config, DURATION_LIMITS, type UnusableEntry } from "../../schemas/config.ts";
import type { DurationLimits } from "../../src/core/duration-limits.ts";
import { createConnections } from "../../src/connections/index.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { type PerKeyLimits, usageHolders } from "../../src/core/usage-limits.ts";
import { iso, MINUTE } from "../../src/core/clock.ts";
import type { ClockCheck } from "../../src/core/clock-check.ts";
import type { RunRequest } from "../../src/core/engine-port.ts";
import type { EventsApi } from "../../src/core/event-ports.ts";
import { eventTokens } from "../../src/core/event-tokens.ts";
import type { RunRecord } from "../../src/core/model.ts";
import { ANY, objectOf } from "../../src/core/shapes.ts";
import { type AnyStepType, defineStepType, type StepContext, template } from "../../src/core/step-type.ts";
import { type Evaluator, evaluator } from "../../src/engine/executor/evaluator.ts";
import { usageLimits } from "../../src/engine/executor/usage-limits.ts";
import { jobHandlers } from "../../src/engine/executor/job-handlers.ts";
import { engine } from "../../src/engine/engine.ts";
import { stopRun } from "../../src/engine/run-state/advance-run.ts";
import { recordAbandoned } from "../../src/engine/run-state/end-run.ts";
import { startRun } from "../../src/engine/run-state/start-run.ts";
import { eventsApi } from "../../src/engine/run-state/waits/event.ts";
import { jobWorker } from "../../src/queue/worker.ts";
import { noTracer, type Tracer } from "../../src/core/tracer.ts";
import { stepTypes } from "../../src/steps/index.ts";
import { apiKeyReader } from "../../src/store/api-keys.ts";
import { projectReader } from "../../src/store/projects.ts";
import { engineReaders, engineTransaction } from "../../src/store/engine-transaction.ts";
import { childProgram } from "./child-program.ts";
import { testStore } from "./store.ts";

/** The function that a `probe` step runs; its result is the step's output. */
export type Probe = (value: unknown, ctx: StepContext) => unknown;

const returnValue: Probe = (value) => value;

const probeStep = (probe: () => Probe): AnyStepType =>
  defineStepType({
    type: "probe",
    title: "Probe",
    description: "Runs the function of the test.",
    fields: {
      ask: template(z.unknown().meta({ description: "Passed to the function of the test.", example: 1 })),
    },
    example: { id: "probe", type: "probe", ask: 1 },
    output: objectOf({ value: ANY }),
    timeoutMs: 30_000,
    hasEffects: () => true,
    resource: () => "database:probe",
    run: async ({ ask }, ctx) => ({ kind: "done", output: { value: (await probe()(ask, ctx)) ?? null } }),
  });

export const TEST_ACTOR = {
  owner: "operator",
  keyName: "ci",
  lineage: "key_1",
  surface: "rest",
  client: "vitest",
} as const;

/** On a busy machine, the process that checks a query may take longer to start than the limits. */
const PATIENT_MS = 2 * MINUTE;

/** How many turns of the event loop the jobs of other executors are waited for. */
const MAX_ROUNDS = 300;

const EVENTS_AT = "https://millrace.example.com/events/";

/** Opens an engine with a manual clock. */
export async function testEngine({
  limits = new Map<string, number>(),
  slots = 8,
  leaseMs = 10_000,
  perKey = {},
  maxUnfinishedRuns = 100_000,
  tracer = noTracer(),
  durationLimits = {},
  maxRunBytes,
  auditSecrets = false,
  config = {},
  unusable = [],
  expressions = evaluator(),
  env = {},
  ...storeOptions
}: {
  limits?: ReadonlyMap<string, number>;
  slots?: number;
  leaseMs?: number;
  perKey?: PerKeyLimits;
  maxUnfinishedRuns?: number;
  tracer?: Tracer;
  durationLimits?: Partial<DurationLimits>;
  maxRunBytes?: number;
  auditSecrets?: boolean;
  /** The configuration file, with databases and so on. */
  config?: object;
  /** Entries of the configuration that can't be used. */
  unusable?: readonly UnusableEntry[];
  env?: Record<string, string>;
  expressions?: Evaluator;
} & Parameters<typeof testStore>[0] = {}) {
  const opened = await testStore(storeOptions);
  const { store, clock, create, change } = opened;
  const read = {
    ...engineReaders(store.read),
    workflows: opened.read,
    projects: projectReader(store.read),
    apiKeys: apiKeyReader(store.read),
  };
  const transaction = engineTransaction(store, clock);
  const { changes } = store;
  const log = pino({ level: "silent" });
  const connected = createConnections({ ...Config.parse(config), unusable }, fixedSecrets(env), {
    stateDir: opened.stateDir,
    version: "0",
    now: clock.now,
    prepareTimeoutMs: PATIENT_MS,
    childProgram: childProgram(),
  });
  onTestFinished(() => connected.close());
  let probe: Probe = returnValue;
  const types = [...stepTypes, probeStep(() => probe)];
  const holdersOf = usageHolders(perKey, read.usage);
  const startLimits = { holdersOf, unfinishedRuns: maxUnfinishedRuns };
  const made = engine({
    stepTypes: types,
    connections: connected,
    read,
    clock,
    log,
    tracer,
    limits: startLimits,
    durationLimits: { ...DURATION_LIMITS, ...durationLimits },
    ...(maxRunBytes !== undefined && { maxRunBytes }),
    auditSecrets,
    connectionsTimeoutMs: PATIENT_MS,
  });
  const tokens = eventTokens(Buffer.alloc(32, 7));
  const eventUrl: EventsApi["url"] = async (ref) => `${EVENTS_AT}${tokens.create(ref)}`;
  const events = eventsApi({
    views: made.views,
    context: made.context,
    read,
    transaction,
    tokens,
    url: eventUrl,
    wake: () => {},
  });
  const handlers = jobHandlers({
    engine: made,
    stepTypes: types,
    read,
    transaction,
    log,
    usageLimits: usageLimits(holdersOf, read, clock),
    eventUrl,
    webUrl: async (path) => `https://mill.example.com${path}`,
    newToken: newLinkToken,
    policy: { approvalsByStarter: false, approvalsByAuthor: false },
    expressions,
  });
  onTestFinished(() => handlers.close());

  let executors = 0;
  /** Starts an executor, or several that compete. */
  async function executor(handler = handlers.handler, { clockCheck }: { clockCheck?: ClockCheck } = {}) {
    executors += 1;
    const queue = jobWorker({
      executor: `exe_${executors}`,
      transaction,
      jobs: read.jobs,
      runs: read.runs,
      clock,
      clockCheck,
      log,
      handler,
      onUnexpectedError: handlers.onUnexpectedError,
      onAbandoned: (tx, attempts, at) =>
        recordAbandoned(made.context, tx, attempts, { status: "interrupted", at }),
      slots,
      leaseMs,
      limits,
      changes,
      onChanged: () => {},
    });
    await queue.start();
    onTestFinished(() => queue.stop(0));
    return {
      ...queue,
      /** Waits for the jobs of other executors too: each may claim those of any run. Some never end theirs. */
      async waitUntilIdle() {
        let last: string | undefined;
        for (let round = 0; round < MAX_ROUNDS; round += 1) {
          await queue.waitUntilIdle();
          const jobs = await opened.store.read
            .selectFrom("jobs")
            .select(["id", "state", "executor", "fence"])
            .where("state", "in", ["claimed", "ready"])
            .orderBy("id")
            .execute();
          // Another executor may be between its claim of one and the next.
          const before = last;
          last = JSON.stringify(jobs);
          const others = jobs.some(
            ({ state, executor: holder }) => state === "claimed" && holder !== queue.executor,
          );
          if (!others && (jobs.length === 0 || last === before)) return;
          await setImmediate();
        }
      },
    };
  }

  async function start(
    workflowId: string,
    request: Partial<Omit<Extract<RunRequest, { workflowId: string }>, "workflowId">> = {},
  ): Promise<string> {
    const prepared = await made.prepareRun({
      workflowId,
      caller: null,
      inputs: {},
      actor: TEST_ACTOR,
      trigger: "rest",
      ...request,
    });
    await transaction((tx) => startRun(made.context, tx, prepared));
    return prepared.id;
  }

  /** Finds a run of a workflow. */
  const find = async (id: string): Promise<RunRecord & { workflowId: string }> => {
    const { workflowId, ...run } = (await read.runs.find(id))!;
    return { ...run, workflowId: workflowId! };
  };

  return {
    ...opened,
    engine: { ...made, ...handlers },
    stepTypes: types,
    read,
    transaction,
    changes,
    events,
    executor,
    start,
    find,
    /** Creates a workflow from a definition and returns its id. */
    define: async (definition: Record<string, unknown>, name = "Test") =>
      (await create({ name, definition })).id,
    redefine: (id: string, definition: Record<string, unknown>) => change(id, { definition }),
    /** Sends an event to a URL, as the REST API does. */
    async send(url: string, body: unknown): Promise<string> {
      return events.receive(await events.find(url.slice(EVENTS_AT.length)), body);
    },
    onProbe: (next: Probe) => void (probe = next),
    stop: (id: string) =>
      transaction((tx) => stopRun(made.context, tx, id, { status: "cancelled", by: "operator" })),
    /** The run with its output and the states of its steps. */
    async outcome(id: string) {
      const run = await find(id);
      return {
        status: run.status,
        error: run.error,
        states: run.stepStates.list,
        output: await read.runs.runOutput(id),
      };
    },
    now: () => iso(clock.now()),
  };
}

export type TestEngine = Awaited<ReturnType<typeof testEngine>>;

/** Runs a definition until the run ends or waits. */
export async function runToEnd(
  it: TestEngine,
  definition: Record<string, unknown>,
  request: Partial<RunRequest> = {},
) {
  const queue = await it.executor();
  const id = await it.start(await it.define(definition), request);
  queue.wake();
  await queue.waitUntilIdle();
  return { id, queue, ...(await it.outcome(id)) };
}
