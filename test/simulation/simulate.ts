/** Runs the simulation of one seed, from an empty installation to the end of all runs, and checks what was promised. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { pino } from "pino";
import { createSubscription } from "../../tools/subscriptions/create-subscription.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { Config } from "../../schemas/config.ts";
import { openInstance } from "../../src/app/instance.ts";
import { openServices } from "../../src/app/services.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { newRequestId } from "../../src/core/ids.ts";
import { assertNoOlderCopies } from "../../src/store/older-copies.ts";
import { databaseFileIn } from "../../src/store/state-directory.ts";
import { invoke } from "../../src/surfaces/invoke.ts";
import { databasePlace } from "../support/database-place.ts";
import { OPERATOR, simulatedClients } from "./clients.ts";
import { drawRates, failurePlan, type FailureRates } from "./failures.ts";
import { CONFIG, connectTo, simulatedInstallation, WORLD } from "./installation.ts";
import { issuesOf, watchWrites } from "./promises.ts";
import { simulatedPeer } from "./peer.ts";
import { simulatedRuntime } from "./runtime.ts";
import { readLoggedWrites, logWrites } from "./logged-writes.ts";
import { PEER, simulatedWorkflows } from "./workflows.ts";

/** How long failures happen, in virtual milliseconds. */
const DISTURBED_MS = 9_000;
/** How long everything may take to end when there are no more failures, in virtual milliseconds. */
const RECOVERY_MS = 180_000;
/** How often it is checked whether everything has ended, in virtual milliseconds. */
const CHECK_MS = 250;

/** Number of ids whose random bytes are requested at once (core/ids.ts). */
const ID_POOL = 128;

export interface Simulated {
  seed: number;
  /** What is broken; empty if nothing is. */
  issues: string[];
  /** What happened, in order, each line with its virtual time. */
  story: string[];
  rates: FailureRates;
  /** Number of what clients do, and of failures that happened. */
  actions: number;
  failures: number;
  events: number;
  runs: number;
}

export interface SimulationOptions {
  /** How often failures happen; left out, the seed draws it. */
  rates?: FailureRates;
  /** Numbers of failures, and of what clients do, that do not happen. */
  without?: { failures: ReadonlySet<number>; actions: ReadonlySet<number> };
  /** Whether the story has the changes of each commit. */
  inDetail?: boolean;
}

/** A state directory with all workflows, which each simulation begins with. */
export interface Template {
  directory: string;
  remove(): void;
}

export async function prepareTemplate(): Promise<Template> {
  const root = mkdtempSync(join(databasePlace(), "millrace-simulation-"));
  const stateDir = join(root, "template");
  mkdirSync(stateDir);
  const runtime = simulatedRuntime(0);
  // Random bytes that were asked for before.
  for (let used = 0; used < ID_POOL; used += 1) newRequestId();
  const prepared = prepare(stateDir);
  let isDone = false;
  prepared.finally(() => (isDone = true)).catch(() => {});
  await runtime.advance(() => isDone);
  await runtime.end();
  await prepared;
  return { directory: root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

async function prepare(stateDir: string): Promise<void> {
  const log = pino({ level: "silent" });
  const clock = { now: () => Date.now() };
  const instance = await openInstance({ stateDir }, clock, log);
  const { services, close } = openServices(instance, {
    settings: readEnvironment({ MILLRACE_STATE_DIR: stateDir }),
    config: Config.parse(CONFIG),
    clock,
    connect: connectTo(() => {
      throw new Error("Nothing is called yet.");
    }),
    readDiskSpace: async () => ({ free: 2 ** 40, total: 2 ** 41 }),
    threads: null,
  });
  const call = { actor: OPERATOR, requestId: "req_0", signal: new AbortController().signal };
  for (const { name, definition } of simulatedWorkflows) {
    await invoke(services, createWorkflow, { id: name, name, definition }, call);
    await invoke(services, publishWorkflow, { workflow_id: name }, call);
  }
  await invoke(
    services,
    createSubscription,
    { name: "ends", url: `${PEER}/events`, events: ["run.succeeded", "run.failed"] },
    call,
  );
  // It reads the processes of the machine, once for each installation.
  await instance.store.transaction(assertNoOlderCopies);
  await close();
  await instance.close();
  watchWrites(stateDir);
}

/** Simulates a seed. The same seed, options and program give the same story. */
export async function simulate(
  template: Template,
  seed: number,
  { rates, without = { failures: new Set(), actions: new Set() }, inDetail = false }: SimulationOptions = {},
): Promise<Simulated> {
  const stateDir = mkdtempSync(join(template.directory, "seed-"));
  copyFileSync(databaseFileIn(join(template.directory, "template")), databaseFileIn(stateDir));
  if (inDetail) logWrites(stateDir);
  const runtime = simulatedRuntime(seed);
  const story: string[] = [];
  const log = (line: string): void => void story.push(`${(runtime.now() / 1_000).toFixed(3)} ${line}`);
  const broken: string[] = [];
  const onUnhandled = (reason: unknown): void =>
    void broken.push(`unhandled rejection: ${(reason as Error)?.stack ?? String(reason)}`);
  process.on("unhandledRejection", onUnhandled);
  let watching: Database.Database | undefined;
  try {
    const random = runtime.randomFor("size");
    const failures = failurePlan(
      rates ?? drawRates(runtime.randomFor("rates")),
      runtime.randomFor("failures"),
      without.failures,
      log,
    );
    const installation = simulatedInstallation({ runtime, failures, stateDir, peer: () => peer, log });
    const peer = simulatedPeer(runtime, failures, () => installation.transfer("call"));
    const clients = simulatedClients({ runtime, installation, peer, log, without: without.actions });
    const workers = 1 + Math.floor(random() * 3);
    const db = (watching = new Database(databaseFileIn(stateDir), { readonly: true }));
    const remaining = db
      .prepare(
        `select (select count(*) from runs where finished_at is null) + (select count(*) from jobs)
           + (select count(*) from backfills where status = 'running')
           + (select count(*) from trigger_deliveries where status = 'received')
           + (select count(*) from deliveries where state = 'pending')`,
      )
      .pluck();
    if (inDetail) {
      const written = readLoggedWrites(db);
      installation.onCommit(() => {
        for (const line of written()) log(`  ${runtime.current()?.name}: ${line}`);
      });
    }
    const actions = 4 + Math.floor(random() * 8);
    let accepted = false;
    let haveFailuresEnded = false;
    let isOver = false;
    runtime.within(WORLD, () => {
      for (let index = 0; index < workers; index += 1) installation.start("worker");
      installation.start("listener");
      installation.start("listener");
      clients.actAsPerson();
      void clients.act(actions, DISTURBED_MS * 0.7).then(() => (accepted = true));
      runtime.after(DISTURBED_MS, () => {
        failures.end();
        installation.endFailures();
        log("no more failures");
        pauseSchedules();
      });
      // As an operator does: again, if another process holds the lock.
      const pauseSchedules = (): void => {
        const writable = new Database(databaseFileIn(stateDir), { timeout: 0 });
        try {
          writable.exec("update schedules set paused = 1");
          haveFailuresEnded = true;
        } catch {
          runtime.after(10, pauseSchedules, WORLD);
        } finally {
          writable.close();
        }
      };
      const checkEnd = (): void => {
        isOver = haveFailuresEnded && accepted && remaining.get() === 0;
        if (!isOver) runtime.after(CHECK_MS, checkEnd, WORLD);
      };
      checkEnd();
    });
    const events = await runtime.advance(() => isOver || runtime.now() > DISTURBED_MS + RECOVERY_MS);
    if (!accepted) broken.push("not every request was accepted after the failures had ended");
    await installation.close();
    const issues = [
      ...broken,
      ...clients.promises.issues,
      ...installation.unexpected,
      ...issuesOf({ db, stateDir, promises: clients.promises, peer, failures, installation }),
    ];
    return {
      seed,
      issues,
      story,
      rates: failures.rates,
      actions,
      failures: failures.count(),
      events,
      runs: db.prepare("select count(*) from runs").pluck().get() as number,
    };
  } finally {
    watching?.close();
    await runtime.end();
    process.off("unhandledRejection", onUnhandled);
    rmSync(stateDir, { recursive: true, force: true });
  }
}
