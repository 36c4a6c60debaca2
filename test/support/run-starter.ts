/**
 * A process that starts runs like a listener and reports each created run. It also decides approvals, sends events and
 * cancels some runs.
 * Tests kill it at any time. SIGTERM stops new runs but not approvals; SIGINT ends it.
 */
import { writeSync } from "node:fs";
import { argv } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { accessEverywhere } from "../../src/core/access.ts";
import { openInstance } from "../../src/app/instance.ts";
import { openServices } from "../../src/app/services.ts";
import { loadConfig } from "../../src/config/config-file.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { iso, systemClock } from "../../src/core/clock.ts";
import type { Actor } from "../../src/core/principal.ts";
import { AppError } from "../../src/core/errors.ts";
import { crashWorkflows, EVENT_WORKFLOW, SCHEDULED_WORKFLOW } from "./crash-workflows.ts";
import { seededRandom } from "./random.ts";

/** Maximum number of unfinished runs, so that runs in progress can end. */
const MAX_UNFINISHED = 30;
const CANCELLED = 0.15;
/** How often an event is sent to a run that may wait for it, each time. */
const SENT = 0.1;

export const CRASH_ACTOR: Actor = {
  principal: {
    kind: "key",
    keyId: "k",
    keyName: "crash",
    owner: "operator",
    lineage: "k",
    scopes: new Set(["run"]),
    access: accessEverywhere(["run"]),
  },
  client: { surface: "rest", name: "run-starter" },
};
const intent = { operation: "test", actor: CRASH_ACTOR, requestId: "req_1" };

const say = (line: string): void => void writeSync(1, `${line}\n`);

// A full disk or a long lock refuses the request, which changes nothing.
const refused = (error: unknown): void => say(`refused ${String(error)}`);

async function main(stateDir: string, seed: number): Promise<void> {
  const clock = systemClock;
  const settings = readEnvironment({ ...process.env, MILLRACE_STATE_DIR: stateDir });
  const { config } = loadConfig(settings.configFile, settings.configRequired, {});
  const instance = await openInstance(
    { stateDir, database: settings.database },
    clock,
    pino({ level: "silent" }),
  );
  const { services } = openServices(instance, { settings, config, clock });
  const { engine } = services;
  const next = seededRandom(seed);
  const names = crashWorkflows("").map(({ name }) => name);
  const startable = names.filter((name) => name !== SCHEDULED_WORKFLOW);
  const state = { starting: true, running: true };
  process.on("SIGTERM", () => (state.starting = false));
  process.on("SIGINT", () => (state.running = false));

  async function start(): Promise<void> {
    const { principal, client } = CRASH_ACTOR;
    const prepared = await engine.prepareRun({
      caller: null,
      workflowId: startable[Math.floor(next() * startable.length)]!,
      inputs: { n: Math.floor(next() * 100) },
      actor: { ...principal, surface: client.surface, client: client.name },
      trigger: "rest",
    });
    await instance.write(intent, (tx) => engine.startRun(tx, prepared));
    say(`started ${prepared.id}`);
    if (next() < CANCELLED) void cancel(prepared.id, next() * 1_000).catch(refused);
  }

  async function startIfFew(): Promise<void> {
    const unfinished = await instance.read.runs.count({ status: ["queued", "running", "waiting"] });
    if (state.starting && unfinished < MAX_UNFINISHED) await start();
  }

  /** Cancels a run, which may have ended; that changes nothing. */
  async function cancel(id: string, after: number): Promise<void> {
    await delay(after);
    say(`cancelling ${id}`);
    await instance.write(intent, (tx) => engine.stopRun(tx, id, { status: "cancelled", by: "crash" }));
  }

  async function decide(): Promise<void> {
    const { items } = await instance.read.approvals.page({
      filter: { status: "pending" },
      after: null,
      limit: 10,
    });
    for (const approval of items) {
      await instance.write(intent, async (tx) => {
        const decision = {
          person: "crash",
          seat: "crash",
          name: "crash",
          approved: true,
          override: false,
          decidedAt: iso(clock.now()),
          comment: null,
          answer: null,
        };
        // Refused when an executor has expired it first.
        await engine.recordDecision(tx, approval, decision, approval.plan!);
      });
    }
  }

  /** Sends events: most come before their step begins, and some twice. */
  async function sendEvents(): Promise<void> {
    const { items } = await instance.read.runs.page({
      filter: { workflowId: EVENT_WORKFLOW, status: ["queued", "running", "waiting"] },
      after: null,
      limit: MAX_UNFINISHED,
    });
    for (const { id } of items) {
      if (next() > SENT) continue;
      const token = (await engine.events.url({ runId: id, stepId: "callback" })).split("/").at(-1)!;
      try {
        const { n } = await instance.read.runs.inputs(id);
        await engine.events.receive(await engine.events.find(token), { n });
        say(`received ${id}`);
      } catch (error) {
        // The step has its event, or the run has ended.
        if (!(error instanceof AppError && error.code === "event_received")) throw error;
      }
    }
  }

  say("ready");
  let reported = false;
  while (state.running) {
    // Runs that were being created when the signal came exist by now.
    if (!state.starting && !reported) say("stopped");
    reported = !state.starting;
    await decide().catch(refused);
    await sendEvents().catch(refused);
    await startIfFew().catch(refused);
    await delay(10);
  }
  await instance.close();
  process.exit(0);
}

if (import.meta.main) {
  await main(argv[2]!, Number(argv[3])).catch((error: unknown) => {
    refused(error);
    process.exit(4);
  });
}
