/** Puts the pieces together; the only file that names concrete ones. */
import { stat, statfs } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { catalogue } from "../tools/index.ts";
import { accountsApi } from "./auth/accounts-api.ts";
import { authenticator } from "./auth/authenticate.ts";
import { linkUrl, newLink } from "./auth/links.ts";
import { openPasswords } from "./auth/passwords.ts";
import { amongAddresses } from "./auth/network.ts";
import { openSessions } from "./auth/sessions.ts";
import type { SignOnPolicy } from "./auth/sign-on.ts";
import { throttle } from "./auth/throttle.ts";
import type { Config } from "../schemas/config.ts";
import type { AuthMode } from "../schemas/user.ts";
import type { Settings } from "./config/environment.ts";
import { cognitoSettings, cognitoWarnings, oidcSettings } from "./config/sign-on.ts";
import { type Clock, iso, MINUTE, SECOND } from "./core/clock.ts";
import { durationMs } from "./core/duration.ts";
import { AppError } from "./core/errors.ts";
import { cursorCodec } from "./core/cursors.ts";
import { reachableHost } from "./core/hosts.ts";
import { connections, limitsOf } from "./connections/index.ts";
import { accountMailer } from "./connections/mail/account-mailer.ts";
import type { EngineApi } from "./core/engine-port.ts";
import { type Meter, noMeter } from "./core/meter.ts";
import type { ApiKeyStore } from "./core/account-ports.ts";
import type { CursorCodec, Readers, UnitOfWork } from "./core/ports.ts";
import { noTracer, type Tracer } from "./core/tracer.ts";
import { allowances } from "./engine/allowances.ts";
import { engine } from "./engine/engine.ts";
import { nextTimes } from "./engine/schedule-times.ts";
import { reportLeft, startRun, stopRun } from "./engine/transitions.ts";
import { watch } from "./engine/watch.ts";
import type { Queue } from "./queue/types.ts";
import { stepTypes } from "./steps/index.ts";
import { apiKeyReader, apiKeyStore } from "./store/api-keys.ts";
import { attemptCounter } from "./store/attempts.ts";
import { auditReader } from "./store/audit.ts";
import { openStore, type Store } from "./store/database.ts";
import { forget } from "./store/forget.ts";
import { identityReader } from "./store/identities.ts";
import { linkReader, linkWriter } from "./store/links.ts";
import { mcpSessionStore } from "./store/mcp-sessions.ts";
import { sessionReader, sessionStore } from "./store/sessions.ts";
import { cursorKey, leaveWebAddress, restoredAt } from "./store/settings.ts";
import { openStateDirectory } from "./store/state-directory.ts";
import { engineReaders, engineTransaction } from "./store/engine-transaction.ts";
import { unitOfWork } from "./store/unit-of-work.ts";
import { userReader } from "./store/users.ts";
import { workflowReader } from "./store/workflows.ts";
import { gate } from "./surfaces/gate.ts";
import { type Lifecycle, listen } from "./surfaces/http-server.ts";
import type { Services } from "./surfaces/invoke.ts";
import type { Provider, SignIn } from "./surfaces/session/endpoint.ts";
import { openStreams, tendStreams } from "./surfaces/streams.ts";
import { meteredConnections } from "./telemetry/metered-connections.ts";
import type { StateNumbers } from "./telemetry/state-gauges.ts";
import packageJson from "../package.json" with { type: "json" };

export const VERSION: string = packageJson.version;

const USE_FLUSH_MS = 10_000;
const LAST_FLUSH_MS = 500;

/** An open state directory and what stands on it. */
export interface Instance {
  store: Store;
  keys: ApiKeyStore;
  read: Readers;
  cursors: CursorCodec;
  write: UnitOfWork;
  log: Logger;
  meter: Meter;
  close(): Promise<void>;
}

/** A process that serves. */
export interface Running {
  port: number;
  /** Of `serve`: a link that makes the first admin; undefined once there is one. */
  setupLink?(): Promise<string | undefined>;
  /** Ends it: not healthy at once, closed after the delay (ms) and at most 10 s more. */
  stop(drainDelay: number): Promise<void>;
}

export interface ListenAt {
  host: string;
  port: number;
}

/** What a process is set up with. */
export interface Setup {
  settings: Settings;
  config: Config;
  clock: Clock;
  /** Where spans go; nowhere when left out. */
  tracer?: Tracer | undefined;
  /** How people sign in; built-in when left out. */
  authMode?: AuthMode | undefined;
  /** Where the MCP server beside it listens, for who is told how to connect. */
  mcpPort?: number | undefined;
  /** The cost of a password's hash; tests ask for a cheap one. */
  passwords?: Parameters<typeof openPasswords>[0];
  /** Within what time (ms) a link for a forgotten password is made; tests don't wait. */
  resetDelayMs?: number;
}

/** The executors that belong to a listener. Others see what is to do by themselves, a little later. */
export interface Executors {
  /** Says that there is something to do. */
  ring(): void;
  /** Calls back with the ids of runs that they have changed. */
  onChanged(listener: (runIds: readonly string[]) => void): void;
}

/**
 * Opens the state directory.
 * @param opened a test says here that its file system is not a local one
 * @throws AppError storage_unavailable, busy
 */
export async function openInstance(
  stateDir: string,
  clock: Clock,
  log: Logger,
  opened = openStateDirectory(stateDir),
  meter = noMeter,
): Promise<Instance> {
  const store = await openStore(opened, clock, meter);
  const { directory, journalMode } = store;
  log.debug(
    { state_dir: directory.path, file_system: directory.fileSystem, journal_mode: journalMode },
    "state directory opened",
  );
  if (!directory.local) {
    log.warn(
      { file_system: directory.fileSystem, journal_mode: journalMode },
      "the state directory is on a network or unknown file system: using the rollback journal, which is slower",
    );
  }
  return {
    store,
    keys: apiKeyStore(store, clock),
    read: {
      ...engineReaders(store.read),
      workflows: workflowReader(store.read),
      apiKeys: apiKeyReader(store.read),
      users: userReader(store.read),
      sessions: sessionReader(store.read),
      identities: identityReader(store.read),
      links: linkReader(store.read),
      audit: auditReader(store.read),
    },
    cursors: cursorCodec(await cursorKey(store)),
    write: unitOfWork(store, clock),
    log,
    meter,
    close: () => store.close(),
  };
}

/** Opens what the environment says that traces go to. Its owner closes it. */
export async function openTracer(
  { tracing }: Pick<Settings, "tracing">,
  process: string,
  log: Logger,
): Promise<Tracer> {
  if (!tracing.on) return noTracer(tracing.propagates);
  const { otlpTracer } = await import("./telemetry/tracing.ts");
  return otlpTracer(tracing, { version: VERSION, process, log });
}

const tracerOf = ({ settings, tracer = noTracer(settings.tracing.propagates) }: Setup): Tracer => tracer;

/** The engine on an instance, with the connections that the configuration names. */
function openEngine({ read, log, meter }: Instance, setup: Setup) {
  const { settings, config, clock } = setup;
  const opened = connections(config, settings.variables, {
    stateDir: settings.stateDir,
    version: VERSION,
    now: () => clock.now(),
  });
  const connected = meter === noMeter ? opened : meteredConnections(opened, meter);
  const made = engine({
    stepTypes,
    connections: connected,
    read,
    clock,
    log,
    meter,
    tracer: tracerOf(setup),
  });
  const allowed = allowances(config.limits.per_key, read, clock);
  return { engine: made, connections: connected, allowed };
}

/** What the operations of a listener stand on. */
export function openServices(
  instance: Instance,
  setup: Setup,
  executors?: Executors,
  baseUrl: () => string = () => setup.settings.baseUrl?.origin ?? "http://127.0.0.1:3000",
): { services: Services; leave(): void; close(): Promise<void> } {
  const { store, read, cursors, write, log, meter } = instance;
  const { engine: made, connections: connected, allowed } = openEngine(instance, setup);
  const watching = watch(read.runs, () => store.dataVersion(), pollOf(instance));
  executors?.onChanged((ids) => watching.tell(ids));
  const { mover } = made;
  const leaving = new AbortController();
  const api: EngineApi = {
    connections: connected,
    stepTypes,
    check: made.check,
    prepareRun: made.prepareRun,
    async startRun(tx, run) {
      const most = setup.config.limits.unfinished_runs;
      if (await tx.runs.hasUnfinished(most)) throw tooManyRuns(most);
      await allowed.takeRun(tx, run.actor);
      await startRun(mover, tx, run);
    },
    stopRun: async (tx, id, stop) => (await stopRun(mover, tx, id, stop)).stopped,
    definitionOf: async (run) => (await mover.outlines.of(run, read.runs)).definition,
    nextTimes,
    ring: () => executors?.ring(),
    changed: watching.changed,
    leaving: leaving.signal,
    allowances: (principal) => allowed.left(principal),
    policy: { approvalsByStarter: setup.config.approvals.by_starter },
  };
  const accounts = accountsApi({
    mode: setup.authMode ?? "built-in",
    mailer: accountMailer(setup.config, setup.settings.variables),
    baseUrl,
    clock: setup.clock,
    idleMs: durationMs(setup.config.authentication.sessions.idle),
    report: (err: unknown) => log.warn({ err }, "a mail about an account could not be sent"),
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
    },
    leave: () => leaving.abort(),
    async close() {
      watching.close();
      await connected.close();
    },
  };
}

const tooManyRuns = (most: number): AppError =>
  new AppError(
    "too_many_runs",
    `${most} runs are unfinished, and no more are taken (limits.unfinished_runs). Wait until some have ended, or ` +
      "cancel some: list_runs with status queued, running or waiting shows them.",
    { headers: { "Retry-After": "30" } },
  );

/** Starts the web and API server. */
export async function startServe(
  instance: Instance,
  setup: Setup,
  at: ListenAt,
  executors?: Executors,
): Promise<Running> {
  const { restApp } = await import("./surfaces/rest/app.ts");
  const lifecycle: Lifecycle = { draining: false };
  const { settings, clock } = setup;
  let port = at.port;
  const baseUrl = (): string => settings.baseUrl?.origin ?? `http://${reachableHost(at.host)}:${port}`;
  const { services, leave, close } = openServices(instance, setup, executors, baseUrl);
  const door = await openDoor(instance, setup);
  const signIn = await openSignIn(instance, setup, at.host, services, baseUrl);
  const streams = openStreams("ask with GET /runs/{run_id}", instance.meter);
  const app = restApp({
    catalogue,
    services,
    gate: door.gate,
    signIn,
    webDirectory: WEB_DIRECTORY,
    streams,
    lifecycle,
    version: VERSION,
    fault: () => instance.store.fault(),
    trustedProxies: settings.trustedProxies,
  });
  const deadAmong = async (ids: readonly string[]): Promise<string[]> => {
    const sessions = ids.filter((id) => id.startsWith("ses_"));
    const keys = ids.filter((id) => !id.startsWith("ses_"));
    return (await Promise.all([door.deadAmong(keys), signIn.sessions.deadAmong(sessions)])).flat();
  };
  const flushing = setInterval(() => {
    signIn.sessions.flush().catch((err: unknown) => services.log.warn({ err }, "sessions not written"));
  }, USE_FLUSH_MS).unref();
  const stopTending = tendStreams(streams, deadAmong, (err) => services.log.warn({ err }, "streams"));
  const closeStreams = async (): Promise<void> => {
    leave();
    streams.closeAll();
  };
  const listener = await listen(app, { ...at, lifecycle, closeStreams }).catch((error: unknown) => {
    // Its timers would keep a process running that serves nobody.
    stopTending();
    clearInterval(flushing);
    throw error;
  });
  port = listener.port;
  signIn.provider?.listening?.();
  // Only links that commands print need it: no reason not to serve.
  await leaveWebAddress(instance.store, baseUrl()).catch((err: unknown) =>
    services.log.warn({ err }, "the address was not written down: commands may print links with another"),
  );
  return {
    port,
    async setupLink() {
      if (signIn.mode !== "built-in" || (await instance.read.users.any())) return undefined;
      const { token, record } = newLink("setup", null, clock);
      await instance.store.transaction((trx) => linkWriter(trx, clock).insert(record));
      return linkUrl(baseUrl(), "setup", token);
    },
    async stop(drainDelay) {
      await listener.drain(drainDelay);
      stopTending();
      clearInterval(flushing);
      await door.close();
      await close();
    },
  };
}

/** `dist/web`, from the sources and from what is built out of them. */
export const WEB_DIRECTORY = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../dist/web/" : "../web/", import.meta.url),
);

/** What people sign in with. */
async function openSignIn(
  { store }: Instance,
  setup: Setup,
  host: string,
  services: Services,
  baseUrl: () => string,
): Promise<SignIn> {
  const { settings, config, clock, authMode = "built-in", mcpPort = 8000 } = setup;
  const { passwords, resetDelayMs = 3 * SECOND } = setup;
  const { idle, longest } = config.authentication.sessions;
  const limits = { idleMs: durationMs(idle), longestMs: durationMs(longest) };
  const door = {
    sessions: openSessions(sessionStore(store), clock, limits),
    limits,
    throttle: throttle(attemptCounter(store), clock),
    https: settings.baseUrl === undefined ? undefined : settings.baseUrl.protocol === "https:",
  };
  return {
    mode: authMode,
    provider: await openProvider(setup, { store, services, door, host, baseUrl }),
    ...door,
    passwords: openPasswords(passwords),
    origins: settings.baseUrl === undefined ? [] : [settings.baseUrl.origin],
    resetDelayMs,
    mcpUrl(hostname, secure) {
      // With the path of either transport or without: both are what people call its URL.
      if (settings.mcpUrl !== undefined) return settings.mcpUrl.href.replace(/\/(?:mcp|sse)?\/?$/, "");
      const reach = (name: string) => `${secure ? "https" : "http"}://${name}:${mcpPort}`;
      if (settings.baseUrl !== undefined) return reach(settings.baseUrl.hostname);
      // A Host header may hold anything, or nothing.
      const usable = /^[^/?#@\\]+$/.test(hostname) && URL.canParse(reach(hostname));
      return reach(usable ? hostname : reachableHost(host));
    },
    version: VERSION,
  };
}

/** The sign-on by an identity provider, where that is how people come in. @throws ConfigError when it is not set up */
async function openProvider(
  { settings, config, clock, authMode }: Setup,
  of: {
    store: Store;
    services: Services;
    door: Pick<SignIn, "sessions" | "limits" | "throttle" | "https">;
    host: string;
    baseUrl: () => string;
  },
): Promise<Provider | undefined> {
  const {
    groups,
    groups_claim: groupsClaim,
    trust_emails: trustEmails,
    default_role: defaultRole,
    refresh,
  } = config.authentication.sign_on;
  const policy: SignOnPolicy = {
    groups,
    defaultRole: defaultRole === "none" ? null : defaultRole,
    adminEmails: new Set(settings.adminEmails),
  };
  if (authMode === "cognito") {
    const cognito = cognitoSettings(settings.signOn);
    for (const warning of cognitoWarnings(of.host, settings)) of.services.log.warn(warning);
    const [{ albVerifier }, { cognitoProvider }] = await Promise.all([
      import("./auth/alb.ts"),
      import("./surfaces/session/cognito.ts"),
    ]);
    const { trustedProxies: proxies } = settings;
    const isProxy = proxies.length === 0 ? undefined : amongAddresses(proxies);
    const { clientId, domain } = cognito;
    const verify = albVerifier(cognito, clock);
    const notBefore = await restoredAt(of.store);
    return cognitoProvider({ ...of, ...of.door, policy, verify, notBefore, clientId, domain, isProxy });
  }
  if (authMode === "oidc") {
    const oidc = oidcSettings(settings.signOn);
    const [{ oidcClient }, { oidcProvider }, { sealingKey }] = await Promise.all([
      import("./auth/oidc.ts"),
      import("./surfaces/session/oidc.ts"),
      import("./auth/sealing.ts"),
    ]);
    const client = oidcClient({ ...oidc, groupsClaim, trustEmails }, clock);
    const flowKey = sealingKey(await cursorKey(of.store), "a browser's way to the provider and back");
    return oidcProvider({ ...of, policy, client, flowKey, refreshMs: durationMs(refresh) });
  }
  return undefined;
}

/** Starts the MCP server. */
export async function startMcp(
  instance: Instance,
  setup: Setup,
  at: ListenAt,
  executors?: Executors,
): Promise<Running> {
  const { mcpApp } = await import("./surfaces/mcp/app.ts");
  const lifecycle: Lifecycle = { draining: false };
  const { services, leave, close } = openServices(instance, setup, executors);
  const door = await openDoor(instance, setup);
  const { store } = instance;
  const { settings, clock } = setup;
  const mcp = mcpApp({
    catalogue,
    services,
    version: VERSION,
    admit: door.gate.admit,
    deadAmong: door.deadAmong,
    sessions: mcpSessionStore(store, clock),
    lifecycle,
    fault: () => store.fault(),
    dataVersion: () => store.dataVersion(),
    hostnames: ["localhost", "127.0.0.1", "[::1]"].concat(
      [settings.baseUrl, settings.mcpUrl].flatMap((url) => (url === undefined ? [] : [url.hostname])),
    ),
    local: store.directory.local,
    log: services.log,
    extend:
      settings.fixtures === undefined
        ? undefined
        : ((await import(settings.fixtures)) as { extend: never }).extend,
  });
  const listener = await listen(mcp.handler, {
    ...at,
    lifecycle,
    closeStreams() {
      leave();
      return mcp.closeStreams();
    },
  }).catch(async (error: unknown) => {
    // Its timers would keep a process running that serves nobody.
    await mcp.stop();
    throw error;
  });
  return {
    port: listener.port,
    async stop(drainDelay) {
      await listener.drain(drainDelay);
      await mcp.stop();
      await door.close();
      await close();
    },
  };
}

const LOCAL_POLL_MS = 10;
/** Each look is several round trips there, and the driver waits for them synchronously. */
const NETWORK_POLL_MS = 200;
const pollOf = ({ store }: Pick<Instance, "store">): number =>
  store.directory.local ? LOCAL_POLL_MS : NETWORK_POLL_MS;

const LOCAL_LEASE_MS = 10 * SECOND;
/** Locks take long to come by on a network file system, and so may a beat. */
const NETWORK_LEASE_MS = 60 * SECOND;
/** How long an executor's beat may stand still before it counts as dead, in milliseconds. */
export const leaseOf = ({ store }: Pick<Instance, "store">): number =>
  store.directory.local ? LOCAL_LEASE_MS : NETWORK_LEASE_MS;
const SCHEDULES_EVERY_MS = 500;
const FORGET_EVERY_MS = 10 * MINUTE;
const FORGET_FIRST_MS = 20 * SECOND;

export interface ExecutorOptions {
  /** Unlike that of any other executor, past ones included. */
  id: string;
  slots: number;
  /** Told of the runs that it has changed. */
  onChanged?: (runIds: readonly string[]) => void;
  leaseMs?: number | undefined;
}

export interface Executor {
  queue: Queue;
  /** Makes the scheduled runs that are due. A timer does this; tests too. */
  fire(): Promise<number>;
  /** Clears away what is old. A timer does this; tests too. */
  forget(): Promise<void>;
  /** Takes no more jobs; what runs may go on for so long (ms), then it is given back. */
  stop(graceMs: number): Promise<void>;
}

/** Starts what carries runs out: jobs, schedules, and clearing away what is old. */
export async function startExecutor(
  instance: Instance,
  setup: Setup,
  { id, slots, onChanged = () => {}, leaseMs }: ExecutorOptions,
): Promise<Executor> {
  const { store, read, log, meter } = instance;
  const { clock, config } = setup;
  const { engine: made, connections: connected, allowed } = openEngine(instance, setup);
  const transaction = engineTransaction(store, clock);
  const [{ carryOut }, { sqliteQueue }] = await Promise.all([
    import("./engine/carry-out.ts"),
    import("./queue/sqlite.ts"),
  ]);
  const carried = carryOut({
    engine: made,
    stepTypes,
    connections: connected,
    read,
    transaction,
    log,
    allowances: allowed,
    mostUnfinished: config.limits.unfinished_runs,
  });
  const queue = sqliteQueue({
    executor: id,
    transaction,
    jobs: read.jobs,
    runs: read.runs,
    clock,
    log,
    meter,
    work: carried.work,
    broken: carried.broken,
    onLeft: (tx, left, at) => reportLeft(made.mover, tx, left, { status: "interrupted", at }),
    slots,
    leaseMs: leaseMs ?? leaseOf(instance),
    limits: limitsOf(connected),
    dataVersion: () => store.dataVersion(),
    pollMs: pollOf(instance),
    onChanged,
  });
  await queue.start();
  const { fire } = carried.scheduler;
  const report = (what: string) => (err: unknown) => log.warn({ err }, what);
  const schedules = setInterval(() => {
    fire()
      .then((count) => count > 0 && queue.ring())
      .catch(report("schedules could not be looked at"));
  }, SCHEDULES_EVERY_MS).unref();
  const { runs, audit } = config.retention;
  const clearAway = (): Promise<void> =>
    forget(store, clock, { runs: durationMs(runs), audit: durationMs(audit) });
  const clear = (): void => void clearAway().catch(report("what is old could not be cleared away"));
  const first = setTimeout(clear, FORGET_FIRST_MS).unref();
  const forgetting = setInterval(clear, FORGET_EVERY_MS).unref();
  return {
    queue,
    fire,
    forget: clearAway,
    async stop(graceMs) {
      clearInterval(schedules);
      clearTimeout(first);
      clearInterval(forgetting);
      await queue.stop(graceMs);
      await connected.close();
    },
  };
}

/** The state of all copies together, for metrics. */
export async function stateNumbers({ read, store }: Instance, clock: Clock): Promise<StateNumbers> {
  const { path, databaseFile } = store.directory;
  const [since, { size }, { bavail, bsize }] = await Promise.all([
    read.jobs.oldestReady(),
    stat(databaseFile),
    statfs(path),
  ]);
  return {
    runs: await read.runs.unfinished(),
    jobs: await read.jobs.depth(),
    oldestReady: since === null ? 0 : Math.max(0, clock.now() - Date.parse(since)) / SECOND,
    executors: (await read.jobs.executors()).length,
    approvals: await read.approvals.count({ status: "pending" }),
    file: { size, free: bavail * bsize },
  };
}

/** Hands the jobs of an executor that is known to be dead on at once, not after its lease. */
export async function takeOver(instance: Instance, executor: string, setup: Setup): Promise<void> {
  const { store, meter } = instance;
  const { clock } = setup;
  const { engine: made, connections: connected } = openEngine(instance, setup);
  await engineTransaction(
    store,
    clock,
  )(async (tx) => {
    const at = iso(clock.now());
    const left = await tx.runs.interruptAttempts(executor, at);
    await reportLeft(made.mover, tx, left, { status: "interrupted", at });
    const jobs = await tx.jobs.takeOver(executor);
    tx.onCommit(() => meter.takenOver("exit", jobs));
  });
  await connected.close();
}

/** Who may come in, and the timer that writes down who did. */
async function openDoor({ keys, log }: Instance, { config, clock }: Setup) {
  const auth = authenticator(keys, clock, (key, state) => log.info({ key, state }, "refused a dead key"));
  const flush = (): Promise<void> =>
    auth.flush().catch((err: unknown) => log.warn({ err }, "last use not written"));
  const timer = setInterval(() => void flush(), USE_FLUSH_MS).unref();
  return {
    gate: await gate(auth, config.limits.requests_per_minute),
    deadAmong: auth.deadAmong,
    async close() {
      clearInterval(timer);
      // Not worth being late for: whoever holds the lock may hold it for long.
      await Promise.race([flush(), delay(LAST_FLUSH_MS, undefined, { ref: false })]);
    },
  };
}
