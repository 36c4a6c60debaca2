/** Those who use the simulated installation: callers of the API, senders of webhooks and events, and a person who decides. */
import { decideApproval } from "../../tools/approvals/decide-approval.ts";
import { settleInterruption } from "../../tools/interruptions/settle-interruption.ts";
import { startBackfill } from "../../tools/backfills/start-backfill.ts";
import { retryRun } from "../../tools/runs/retry-run.ts";
import { cancelRun } from "../../tools/runs/cancel-run.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { FULL_ACCESS } from "../../src/core/access.ts";
import { AppError, isStorageUnavailable } from "../../src/core/errors.ts";
import type { Actor } from "../../src/core/ports.ts";
import type { RunFilter } from "../../src/core/model.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { invoke, type Services } from "../../src/surfaces/invoke.ts";
import { EVENT_WORKFLOW, SCHEDULED_WORKFLOW } from "../support/crash-workflows.ts";
import type { Installation } from "./installation.ts";
import type { Peer } from "./peer.ts";
import type { Runtime } from "./runtime.ts";
import {
  CALLED_WORKFLOW,
  calledDefinition,
  HANDLING_WORKFLOW,
  RETRIED_WORKFLOW,
  HOOKED_WORKFLOW,
  PAYING_WORKFLOWS,
  PICKY_WORKFLOW,
  RISKING_WORKFLOW,
  simulatedWorkflows,
} from "./workflows.ts";

/** How long a client waits for an answer, and before it asks again, in milliseconds. */
const ANSWER_MS = 8_000;
const AGAIN_MS = 500;
/** How many of the runs are of the favourites of a seed. */
const FAVOURED = 0.7;
/** Interval at which the person reads what waits for her, in milliseconds. */
const PERSON_MS = 250;

export const OPERATOR: Actor = {
  principal: {
    kind: "key",
    keyId: "key_1",
    keyName: "simulation",
    owner: "operator",
    lineage: "key_1",
    scopes: FULL_ACCESS.everywhere!,
    access: FULL_ACCESS,
  },
  client: { surface: "rest", name: "simulation" },
};

/** Workflows that no client starts with `run_workflow` alone. */
const STARTED_OTHERWISE: ReadonlySet<string> = new Set([
  SCHEDULED_WORKFLOW,
  HOOKED_WORKFLOW,
  HANDLING_WORKFLOW,
  RETRIED_WORKFLOW,
  CALLED_WORKFLOW,
]);
/** The slots of the schedule that a backfill repeats: long before the simulation begins, whatever the clocks say. */
const BACKFILL = { from: "2026-11-21T07:00:00Z", to: "2026-11-21T07:00:30Z" };
/** How many runs that is. */
export const BACKFILL_RUNS = 4;
/** Interval at which a client asks whether a run has ended, in milliseconds. */
const POLL_MS = 500;

/** The answers that the clients got, which are promises. */
export interface Promises {
  /** Ids of the runs that were accepted. */
  acknowledged: string[];
  /** Ids of runs whose cancellation was asked for. */
  cancelled: Set<string>;
  /** Runs whose cancellation was confirmed, and when, in virtual milliseconds. */
  stopped: Map<string, number>;
  /** Ids of runs whose event was accepted. */
  received: string[];
  /** Ids of approvals whose approval was confirmed. */
  approved: Set<string>;
  /** Idempotency keys of effects that were settled as having happened, and since when, in virtual milliseconds. */
  happened: Map<string, number>;
  /** Whether a backfill was accepted. */
  backfilled: boolean;
  /** Broken promises that the clients have seen. */
  issues: string[];
}

export interface Clients {
  promises: Promises;
  /** Begins all of it. Resolves when everything that was asked for was accepted. */
  act(actions: number, overMs: number): Promise<void>;
  /** The person begins to decide and to settle. */
  actAsPerson(): void;
}

interface Options {
  runtime: Runtime;
  installation: Installation;
  peer: Peer;
  log: (line: string) => void;
  /** Numbers of actions that are left out. */
  without: ReadonlySet<number>;
}

/** Temporary failures: the client tries again. */
const isTemporary = (error: unknown): boolean =>
  isStorageUnavailable(error) ||
  error === NO_ANSWER ||
  (error instanceof AppError && ["too_many_runs", "storage_full", "rate_limited"].includes(error.code));
const NO_ANSWER = new Error("no answer");
const codeOf = (error: unknown): string => (error instanceof AppError ? error.code : String(error));

/** Tries to change something. @returns whether it was confirmed; it is not where others were earlier, with one of `codes` */
async function isDone(change: Promise<unknown>, codes: RegExp): Promise<boolean> {
  try {
    await change;
    return true;
  } catch (error) {
    if (codes.test(codeOf(error))) return false;
    throw error;
  }
}

export function simulatedClients({ runtime, installation, peer, log, without }: Options): Clients {
  const promises: Promises = {
    acknowledged: [],
    cancelled: new Set(),
    stopped: new Map(),
    received: [],
    approved: new Set(),
    happened: new Map(),
    backfilled: false,
    issues: [],
  };
  const chance = runtime.randomFor("clients");
  const pick = <T>(list: readonly T[], number = chance()): T => list[Math.floor(number * list.length)]!;
  // Payments come more often: their promises are the hardest to keep.
  const startable = [
    ...simulatedWorkflows.map(({ name }) => name),
    ...[...PAYING_WORKFLOWS, RISKING_WORKFLOW].flatMap((name) => [name, name]),
  ].filter((name) => !STARTED_OTHERWISE.has(name));
  // Runs of one workflow meet each other only if there are several.
  const favourites = Array.from({ length: 1 + Math.floor(chance() * 3) }, () => pick(startable));
  let requests = 0;

  /** Sends one request to one of the listeners. @throws AppError, NO_ANSWER */
  async function once<T>(work: (services: Services) => Promise<T>): Promise<T> {
    const listener = pick(installation.members.filter(({ services }) => services !== undefined));
    if (listener === undefined) throw NO_ANSWER;
    const answered = runtime.within(listener.process, async () => {
      await installation.transfer("request");
      const result = await work(listener.services!);
      await installation.transfer("answer");
      return result;
    });
    answered.catch(() => {});
    const late = runtime.sleep(ANSWER_MS).then(() => {
      throw NO_ANSWER;
    });
    late.catch(() => {});
    return Promise.race([answered, late]);
  }

  /** Repeats a request until it is answered. @throws AppError that is no temporary failure */
  async function persist<T>(work: (services: Services) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await once(work);
      } catch (error) {
        if (!isTemporary(error)) throw error;
        await runtime.sleep(AGAIN_MS * (0.5 + chance()));
      }
    }
  }

  const call =
    (tool: AnyTool, input: Record<string, unknown>) =>
    async (services: Services): Promise<Record<string, unknown>> => {
      requests += 1;
      const signal = new AbortController().signal;
      const requestId = `req_${requests}`;
      return (await invoke(services, tool, input, { actor: OPERATOR, requestId, signal })) as Record<
        string,
        unknown
      >;
    };

  /** Starts one run, by one idempotency key, with several requests at once or one after another. */
  async function start(key: string): Promise<void> {
    const random = runtime.randomFor(key);
    const workflow = random() < FAVOURED ? pick(favourites, random()) : pick(startable, random());
    const n = Math.floor(random() * 100);
    const request = call(runWorkflow, {
      workflow_id: workflow,
      inputs: { n },
      wait: 0,
      idempotency_key: key,
    });
    const answers = await Promise.all(Array.from({ length: random() < 0.2 ? 2 : 1 }, () => persist(request)));
    const ids = [...new Set(answers.map(({ id }) => String(id)))];
    const first = ids[0]!;
    if (ids.length !== 1) promises.issues.push(`two runs for the key ${key}: ${ids.join(" and ")}`);
    log(`${first} accepted (${workflow}, n = ${n})`);
    promises.acknowledged.push(first);
    if (random() < 0.25) await cancel(first, random() * (random() < 0.5 ? 300 : 3_000));
    // A client that has lost the answer asks again later.
    if (random() < 0.2) {
      await runtime.sleep(random() * 5_000);
      const again = String((await persist(request))["id"]);
      if (again !== first) promises.issues.push(`two runs for the key ${key}: ${first} and ${again}`);
    }
  }

  /** Starts a run that fails, and retries it when it has. */
  async function startAndRetry(key: string): Promise<void> {
    const input = {
      workflow_id: RETRIED_WORKFLOW,
      inputs: { n: 1, ref: key },
      wait: 0,
      idempotency_key: key,
    };
    const id = String((await persist(call(runWorkflow, input)))["id"]);
    log(`${id} accepted (${RETRIED_WORKFLOW})`);
    promises.acknowledged.push(id);
    const hasEnded = async ({ read }: Services): Promise<boolean> =>
      (await read.runs.find(id))!.finishedAt !== null;
    while (!(await persist(hasEnded))) await runtime.sleep(POLL_MS);
    const retry = { run_id: id, confirm: true, wait: 0, idempotency_key: `retry_${key}` };
    const retried = String((await persist(call(retryRun, retry)))["id"]);
    log(`${retried} accepted (retry of ${id})`);
    promises.acknowledged.push(retried);
  }

  async function backfill(): Promise<void> {
    const input = { workflow_id: SCHEDULED_WORKFLOW, ...BACKFILL, idempotency_key: "backfill" };
    await persist(call(startBackfill, input));
    promises.backfilled = true;
    log("backfill accepted");
  }

  /** Publishes a new version of what others call. */
  async function publish(version: number): Promise<void> {
    const workflow_id = CALLED_WORKFLOW;
    await persist(call(updateWorkflow, { workflow_id, definition: calledDefinition(version) }));
    await persist(call(publishWorkflow, { workflow_id }));
    log(`a new version of ${workflow_id} is published`);
  }

  async function cancel(id: string, after: number): Promise<void> {
    await runtime.sleep(after);
    log(`cancellation of ${id} requested`);
    promises.cancelled.add(id);
    await persist(call(cancelRun, { run_id: id }))
      .then(() => void promises.stopped.set(id, runtime.now()))
      .catch((error: unknown) => {
        if (codeOf(error) !== "run_finished") promises.issues.push(`cancel_run ${id}: ${codeOf(error)}`);
      });
  }

  /** Sends a webhook, as senders do: again until it is answered, and sometimes once more. */
  async function deliver(id: string): Promise<void> {
    const random = runtime.randomFor(id);
    const body = { id, n: Math.floor(random() * 100) };
    const send = async (services: Services): Promise<string> => {
      const [record] = await services.read.triggers.ofWorkflow(HOOKED_WORKFLOW);
      const { triggers } = services.engine;
      const target = await triggers.find((await triggers.url(record!)).split("/").at(-1)!);
      const event = { body, headers: {}, query: {} };
      const { runId } = await triggers.receive(target, { event, senderId: null, bytes: 10 });
      return runId;
    };
    const runId = await persist(send);
    log(`${runId} accepted (webhook ${id})`);
    promises.acknowledged.push(runId);
    if (random() < 0.4) {
      await runtime.sleep(random() * 5_000);
      const again = await persist(send);
      if (again !== runId) promises.issues.push(`two runs for the webhook ${id}: ${runId} and ${again}`);
    }
  }

  /** Sends the events that runs wait for: some before their step begins, some twice, and some at the same time. */
  async function sendEvents(): Promise<void> {
    const waiting = await once(async ({ read }) => {
      const found: { id: string; n: number; accepted: boolean }[] = [];
      for (const workflowId of [EVENT_WORKFLOW, PICKY_WORKFLOW]) {
        const filter: RunFilter = { workflowId, status: ["queued", "running", "waiting"] };
        const { items } = await read.runs.page({ filter, after: null, limit: 50 });
        for (const { id } of items) {
          const { n } = await read.runs.inputs(id);
          found.push({ id, n: n as number, accepted: workflowId === EVENT_WORKFLOW });
        }
      }
      return found;
    });
    for (const { id, n, accepted } of waiting) {
      if (chance() > 0.3) continue;
      await Promise.all(Array.from({ length: chance() < 0.3 ? 2 : 1 }, () => sendEvent(id, n, accepted)));
    }
  }

  async function sendEvent(id: string, n: number, accepted: boolean): Promise<void> {
    try {
      await once(async ({ engine }) => {
        const token = (await engine.events.url({ runId: id, stepId: "callback" })).split("/").at(-1)!;
        await engine.events.receive(await engine.events.find(token), { n });
      });
    } catch (error) {
      if (isTemporary(error) || codeOf(error).startsWith("event_")) return;
      throw error;
    }
    if (accepted) promises.received.push(id);
    log(`event for ${id} accepted`);
  }

  async function decide(): Promise<void> {
    await once(async (services) => {
      const { items } = await services.read.approvals.page({
        filter: { status: "pending" },
        after: null,
        limit: 50,
      });
      for (const { id, runId } of items) {
        if (chance() > 0.6) continue;
        const decision = call(decideApproval, { approval_id: id, decision: "approve" })(services);
        if (!(await isDone(decision, /^(approval|run)_/))) continue;
        promises.approved.add(id);
        log(`${id} of ${runId} approved`);
      }
    });
  }

  const settled = new Set<string>();

  /** Settles interrupted payments by what the receiver knows. */
  async function settle(): Promise<void> {
    await once(async (services) => {
      const { items } = await services.read.interruptions.page({
        filter: { isOpen: true },
        after: null,
        limit: 50,
      });
      for (const { id, runId, idempotencyKey, stepId } of items) {
        if (stepId !== "pay" || chance() > 0.6) continue;
        const happened = peer.wasDone(idempotencyKey);
        const input = happened
          ? { outcome: "happened", output: { status_code: 200, headers: {}, body: { one: 1 } } }
          : { outcome: "not_happened" };
        const settlement = call(settleInterruption, { interruption_id: id, ...input })(services);
        if (!(await isDone(settlement, /^interruption_/))) continue;
        if (settled.has(id)) promises.issues.push(`${id} was settled twice`);
        settled.add(id);
        if (happened) promises.happened.set(idempotencyKey, runtime.now());
        log(`${id} of ${runId} settled: ${input.outcome}`);
      }
    });
  }

  /** The person decides, settles and sends events at the same time, again and again. */
  async function actAsPerson(): Promise<void> {
    for (;;) {
      const works = [decide, sendEvents, settle, ...(chance() < 0.3 ? [settle, decide] : [])];
      await Promise.all(
        works.map((work) =>
          work().catch((error: unknown) => {
            if (!isTemporary(error))
              promises.issues.push(`the person got ${codeOf(error)}: ${(error as Error).stack}`);
          }),
        ),
      );
      await runtime.sleep(PERSON_MS);
    }
  }

  return {
    promises,
    async act(actions, overMs) {
      const random = runtime.randomFor("actions");
      const burst = random() * overMs;
      await Promise.all(
        Array.from({ length: actions }, async (_, index) => {
          // Some come together.
          const at = random() < 0.3 ? burst : random() * overMs;
          const kind = random();
          if (without.has(index)) return;
          await runtime.sleep(at);
          const action =
            kind < 0.12
              ? deliver(`hook_${index}`)
              : kind < 0.2
                ? startAndRetry(`key_${index}`)
                : kind < 0.23 && index < 3
                  ? backfill()
                  : kind < 0.28
                    ? publish(index + 2)
                    : start(`key_${index}`);
          await action.catch((error: unknown) => {
            promises.issues.push(`action ${index} failed: ${codeOf(error)} ${(error as Error).message}`);
          });
        }),
      );
    },
    actAsPerson: () => void actAsPerson(),
  };
}
