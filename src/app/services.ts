/** Builds what operations need: the store, the engine with its connections, mail. */
import type { Config } from "../../schemas/config.ts";
import type { AuthMode } from "../../schemas/user.ts";
import { accountsApi } from "../auth/accounts-api.ts";
import type { openPasswords } from "../auth/passwords.ts";
import type { Settings } from "../config/environment.ts";
import { createConnections } from "../connections/index.ts";
import { createAccountMailer } from "../connections/mail/account-mailer.ts";
import { AppError } from "../core/errors.ts";
import { webBase } from "../core/public-url.ts";
import { StepError } from "../core/step-errors.ts";
import type { Clock } from "../core/clock.ts";
import type { ClockCheck } from "../core/clock-check.ts";
import { durationMs } from "../core/duration.ts";
import type { EngineApi } from "../core/engine-port.ts";
import type { EventsApi } from "../core/event-ports.ts";
import type { TriggersApi } from "../core/trigger-ports.ts";
import { noMeter } from "../core/meter.ts";
import { unscoped } from "../core/scoped-readers.ts";
import { sightOfCaller, visiblePlan } from "../core/visible-plan.ts";
import { noTracer, type Tracer } from "../core/tracer.ts";
import { perKeyLimits, usageHolders } from "../core/usage-limits.ts";
import { retryPlanner } from "../engine/executor/retry-planner.ts";
import { usageLimits } from "../engine/executor/usage-limits.ts";
import { engine } from "../engine/engine.ts";
import { type EngineThreads, engineThreads } from "../engine/threads/engine-threads.ts";
import { scheduledInputs } from "../engine/run-state/scheduled-inputs.ts";
import { stopRun } from "../engine/run-state/advance-run.ts";
import { settleInterruption } from "../engine/run-state/interruptions.ts";
import { startRun } from "../engine/run-state/start-run.ts";
import { storageRefusal } from "../engine/run-state/storage-limit.ts";
import { eventsApi } from "../engine/run-state/waits/event.ts";
import { recordDecision } from "../engine/run-state/waits/approval.ts";
import { triggersApi } from "../engine/run-state/triggers/receive.ts";
import { notifyAssignees } from "../engine/run-state/waits/approval-reminders.ts";
import { runWatcher } from "../engine/run-state/run-watcher.ts";
import { stepTypes } from "../steps/index.ts";
import { engineTransaction } from "../store/engine-transaction.ts";
import { diskSpaceGuard, type ReadDiskSpace } from "../store/free-space.ts";
import { readLog } from "../store/read-log.ts";
import { getWebAddress } from "../store/settings.ts";
import type { Services } from "../surfaces/invoke.ts";
import { meteredConnections } from "../telemetry/metered-connections.ts";
import { VERSION } from "./build.ts";
import type { Instance } from "./instance.ts";
import type { Repeat } from "./repeat.ts";

/** The address of the web server until one has started. */
const DEFAULT_ADDRESS = "http://127.0.0.1:3000";

/** Settings of a process. */
export interface Setup {
  settings: Settings;
  config: Config;
  clock: Clock;
  /** Compares the clock with those of other processes; left out, it is always right. */
  clockCheck?: ClockCheck | undefined;
  /** Receives spans; default: none. */
  tracer?: Tracer | undefined;
  /** How people sign in; default: built-in. */
  authMode?: AuthMode | undefined;
  /** Port of the MCP server, for instructions how to connect. */
  mcpPort?: number | undefined;
  /** Parameters of password hashes; tests use cheap ones. */
  passwords?: Parameters<typeof openPasswords>[0];
  /** Reads the free space of the state directory; tests pass another. */
  readDiskSpace?: ReadDiskSpace | undefined;
  /** Number of file descriptors that the process may have open; tests pass another. */
  descriptors?: number | undefined;
  /** How deliveries are attempted: their timeout, and by how much pauses are shorter; tests do not wait. */
  deliveries?: { timeoutMs?: number; pauseFactor?: number } | undefined;
  /** How long checks of definitions wait for connections and for a prepared query, in milliseconds; tests wait longer. */
  checks?: { connectionsTimeoutMs?: number; prepareTimeoutMs?: number } | undefined;
  /** Opens the connections of the configuration; the simulator passes peers of its own. */
  connect?: typeof createConnections | undefined;
  /** The program of the child processes of embedded databases; tests start the built one. */
  childProgram?: string | undefined;
  /**
   * Checks definitions and validates values; default: threads of its own, and with null the calling thread. Tests share theirs, because a
   * start takes a second.
   */
  threads?: EngineThreads | null | undefined;
  /** Begins what executors do from time to time; default: by timers. Tests with a clock of their own call it themselves. */
  repeat?: Repeat | undefined;
  /** How long a request for a forgotten password takes, in milliseconds; tests do not wait. */
  resetDelayMs?: number;
}

/** The executors of this process. Other executors find new jobs when they poll, a little later. */
export interface ExecutorNotifier {
  /** Tells an executor that there are new jobs. */
  wake(): void;
  /** Calls back with the ids of runs that the executors have changed. */
  onChanged(listener: (runIds: readonly string[]) => void): void;
}

const tracerOf = ({ settings, tracer = noTracer(settings.tracing.propagates) }: Setup): Tracer => tracer;

/** Opens the engine on an instance, with the connections of the configuration. */
export function openEngine(instance: Instance, setup: Setup) {
  const { read, log, meter, store } = instance;
  const { settings, config, clock } = setup;
  const opened = (setup.connect ?? createConnections)(config, settings.secrets, {
    stateDir: settings.stateDir,
    version: VERSION,
    now: () => clock.now(),
    proxies: settings.proxies,
    childProgram: setup.childProgram,
    ...(setup.checks?.prepareTimeoutMs !== undefined && { prepareTimeoutMs: setup.checks.prepareTimeoutMs }),
  });
  const connected = meter === noMeter ? opened : meteredConnections(opened, meter);
  const perKey = perKeyLimits(config.limits.per_key, instance.hasDefaultLimits);
  const holdersOf = usageHolders(perKey, read.usage);
  const threads = setup.threads === null ? undefined : (setup.threads ?? engineThreads());
  const made = engine({
    stepTypes,
    ...(threads !== undefined && { threads }),
    connections: connected,
    read,
    clock,
    log,
    meter,
    tracer: tracerOf(setup),
    assertDiskSpace: diskSpaceGuard(store.diskPath, {
      minFree: config.limits.free_disk,
      read: setup.readDiskSpace,
    }),
    maxQueueAge: config.limits.queue_age,
    minScheduleInterval: config.limits.min_schedule_interval,
    maxPriority: config.limits.max_priority,
    limits: { holdersOf, unfinishedRuns: config.limits.unfinished_runs },
    durationLimits: config.limits,
    maxRunBytes: config.limits.run_bytes,
    auditSecrets: config.audit.secrets,
    approvalsByStarter: config.approvals.by_starter,
    ...(setup.checks?.connectionsTimeoutMs !== undefined && {
      connectionsTimeoutMs: setup.checks.connectionsTimeoutMs,
    }),
  });
  const allowed = usageLimits(holdersOf, read, clock);
  return {
    engine: made,
    connections: connected,
    holdersOf,
    allowed,
    eventUrl: eventUrls(instance, settings),
    webUrl: async (path: string): Promise<string> => `${await webAddress(instance, settings)}${path}`,
    /** Ends threads and child processes, and closes connections. */
    close: async (): Promise<void> => void (await Promise.all([threads?.close(), connected.close()])),
  };
}

/** The URL of the web interface for links: the configured one, or the address that a server last listened on. */
export const webAddress = async (
  { store }: Pick<Instance, "store">,
  { baseUrl }: Pick<Settings, "baseUrl">,
): Promise<string> => (baseUrl && webBase(baseUrl)) ?? (await getWebAddress(store)) ?? DEFAULT_ADDRESS;

/** Returns a function that makes the URLs of events, with the address that links in mails have. */
const eventUrls =
  (instance: Instance, settings: Settings): EventsApi["url"] =>
  async (ref) =>
    `${await webAddress(instance, settings)}/events/${instance.eventTokens.create(ref)}`;

/** Returns a function that makes the URLs of triggers. */
const triggerUrls =
  (instance: Instance, settings: Settings): TriggersApi["url"] =>
  async (trigger) =>
    `${await webAddress(instance, settings)}/hooks/${instance.triggerTokens.create(trigger)}`;

/** Opens what the operations of a server need. */
export function openServices(
  instance: Instance,
  setup: Setup,
  executors?: ExecutorNotifier,
  baseUrl: () => string | Promise<string> = () => webAddress(instance, setup.settings),
): { services: Services; beginShutdown(): void; close(): Promise<void> } {
  const { read, cursors, write, log, meter } = instance;
  const opened = openEngine(instance, setup);
  const { engine: made, holdersOf, allowed, eventUrl } = opened;
  const watching = runWatcher(read.runs, instance.changes);
  executors?.onChanged((ids) => watching.notify(ids));
  const { context } = made;
  const leaving = new AbortController();
  const api: EngineApi = {
    configured: opened.connections,
    connectionsOf: async (project, limits) => (await made.views.of(project, limits)).connections,
    stepTypes,
    check: made.check,
    validation: context.validation,
    // Loaded with the first one, as few requests need it.
    async compileForRuns(source) {
      const { compileForRuns } = await import("../engine/definition/run-expressions.ts");
      return compileForRuns(source);
    },
    prepareRun: made.prepareRun,
    beyondKeyLimits: made.beyondKeyLimits,
    startRun: (tx, run) => startRun(context, unscoped(tx), run),
    async assertMayStore(tx, principal, project) {
      const refused = await storageRefusal(tx, await holdersOf(principal, project, tx.usage));
      if (refused !== undefined) throw refused;
    },
    stopRun: async (tx, id, stop) => (await stopRun(context, unscoped(tx), id, stop)).stopped,
    recordDecision: (tx, approval, decision, levels) =>
      recordDecision(unscoped(tx), approval, decision, levels),
    settleInterruption: (tx, interruption, settlement) =>
      settleInterruption(context, unscoped(tx), interruption, settlement),
    async notifyAssignees(limited, approval, event) {
      const tx = unscoped(limited);
      const { priority } = (await tx.runs.find(approval.runId))!;
      await notifyAssignees(tx, approval, priority, [event]);
    },
    async remainingWork(limited, { runId, stepId }) {
      const reader = unscoped(limited);
      const run = (await reader.runs.find(runId))!;
      const remaining = await made.remainingWork.after(reader, run, stepId);
      return { ...remaining, workflows: await visiblePlan(remaining.workflows, sightOfCaller(limited)) };
    },
    publicationPlan: (reader, version) => made.remainingWork.ofVersion(reader, version),
    planRetry: retryPlanner(read, made, stepTypes),
    getDefinition: async (run) => (await context.definitionCache.get(run, read.runs)).definition,
    events: eventsApi({
      context,
      read,
      transaction: engineTransaction(instance.store, setup.clock),
      views: made.views,
      tokens: instance.eventTokens,
      url: eventUrl,
      wake: () => executors?.wake(),
    }),
    triggers: triggersApi({
      context,
      read,
      transaction: engineTransaction(instance.store, setup.clock),
      views: made.views,
      assertMayStart: made.assertMayStart,
      tokens: instance.triggerTokens,
      url: triggerUrls(instance, setup.settings),
      wake: () => executors?.wake(),
    }),
    signingSecret: (signer) => instance.signingSecrets.secretOf(signer),
    nextScheduleTimes: made.schedulePolicy.nextTimes,
    scheduleTimesBetween: made.schedulePolicy.timesBetween,
    backfillInputs: (version, time) =>
      scheduledInputs({ context, runs: read.runs, parse: made.parse }, version, {
        trigger: "backfill",
        time,
      }).catch((error: unknown) => {
        if (!(error instanceof StepError)) throw error;
        throw new AppError("workflow_not_runnable", `schedule.inputs can't be evaluated: ${error.message}`, {
          cause: error,
        });
      }),
    minScheduleIntervalMs: made.schedulePolicy.minMs,
    scheduleWarning: made.schedulePolicy.warning,
    wake: () => executors?.wake(),
    waitForChange: watching.waitForChange,
    shutdownSignal: leaving.signal,
    remainingUsage: (principal, projects) => allowed.remaining(principal, projects),
    policy: approvalPolicy(setup.config.approvals),
  };
  const accounts = accountsApi({
    mode: setup.authMode ?? "built-in",
    mailer: createAccountMailer(setup.config, setup.settings.secrets),
    countMails: ({ caller, project }, addresses) =>
      engineTransaction(
        instance.store,
        setup.clock,
      )((tx) => allowed.countMails(tx, { actor: caller, project }, addresses)),
    baseUrl,
    clock: setup.clock,
    idleMs: durationMs(setup.config.authentication.sessions.idle),
    report: (err: unknown) => log.warn({ err }, "account mail not sent"),
  });
  return {
    services: {
      read,
      cursors,
      write,
      engine: api,
      accounts,
      clock: setup.clock,
      log,
      meter,
      tracer: tracerOf(setup),
      recordRead: setup.config.audit.reads ? readLog(instance.store, setup.clock) : undefined,
    },
    beginShutdown: () => leaving.abort(),
    async close() {
      watching.close();
      await opened.close();
    },
  };
}

/** Whether those who started a run, or wrote what it runs, may decide its approvals. */
export const approvalPolicy = ({
  by_starter: approvalsByStarter,
  by_author: approvalsByAuthor = approvalsByStarter,
}: Config["approvals"]): EngineApi["policy"] => ({ approvalsByStarter, approvalsByAuthor });
