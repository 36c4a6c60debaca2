/** Clients of the HTTP API during failures: they repeat each request with its idempotency key until it is acknowledged. */
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type CrashWorkflow, crashWorkflows, SCHEDULED_WORKFLOW } from "./crash-workflows.ts";
import type { Replica } from "./deployment.ts";
import { seededRandom } from "./random.ts";
import type { StateAccess } from "./state-access.ts";

const CLIENTS = 3;
/** How long a client waits for an answer, in milliseconds; then it asks another server. */
const ANSWER_MS = 5_000;
const PAUSE_MS = 100;
const CANCELLED = 0.15;
/** The inputs of these runs begin here, so that no other run has them. */
const FIRST_INPUT = 1_000_000;

interface Options {
  listeners: readonly Pick<Replica, "port">[];
  key: string;
  seed: number;
  /** Called before a run is cancelled. */
  onCancel(id: string): void;
}

interface Answer {
  status: number;
  body: { id: string; status: string; output: unknown };
}

export function crashClients({ listeners, key, seed, onCancel }: Options) {
  const acknowledged: string[] = [];
  const issues: string[] = [];
  const workflows = crashWorkflows("").filter(({ name }) => name !== SCHEDULED_WORKFLOW);
  let started = 0;
  const state = { going: true };

  /** Asks any server until one answers with success, or refuses the request itself. */
  async function ask(
    next: () => number,
    method: string,
    path: string,
    { body, idempotencyKey }: { body?: object; idempotencyKey?: string } = {},
  ): Promise<Answer> {
    for (;;) {
      const { port } = listeners[Math.floor(next() * listeners.length)]!;
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        signal: AbortSignal.timeout(ANSWER_MS),
        headers: {
          "X-API-Key": key,
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
        .then(async (response) => ({
          status: response.status,
          body: (await response.json()) as Answer["body"],
        }))
        .catch(() => undefined);
      // A server that is away, a database that is away, and a request that is still being carried out.
      if (answer !== undefined && answer.status < 500 && answer.status !== 409 && answer.status !== 429)
        return answer;
      if (answer?.status === 500) issues.push(`${method} ${path}: 500 ${JSON.stringify(answer.body)}`);
      await delay(PAUSE_MS);
    }
  }

  async function runOnce(next: () => number, { name, expectedOutput, failsWith }: CrashWorkflow) {
    const n = FIRST_INPUT + (started += 1);
    const post = () =>
      ask(next, "POST", `/workflows/${name}/runs`, {
        body: { inputs: { n } },
        idempotencyKey: `${seed}-${n}`,
      });
    const { status, body } = await post();
    if (status !== 202) return void issues.push(`${name}: the run was refused with ${status}`);
    acknowledged.push(body.id);
    if (next() < 0.3) {
      const again = await post();
      if (again.body.id !== body.id) issues.push(`${body.id}: its key also started ${again.body.id}`);
    }
    const cancels = next() < CANCELLED;
    if (cancels) {
      onCancel(body.id);
      // Refused when the run has ended before.
      await Promise.race([ask(next, "POST", `/runs/${body.id}/cancel`, { body: {} }), delay(ANSWER_MS)]);
    }
    const found = await ended(next, body.id);
    if (found === undefined || (cancels && found.status === "cancelled")) return undefined;
    const expected = failsWith === undefined ? "succeeded" : "failed";
    // A step that ran alone and was killed too often fails its run; the checks of the state know.
    if (found.status !== expected) return undefined;
    if (expected === "succeeded" && !isDeepStrictEqual(found.output, expectedOutput(n)))
      issues.push(`${body.id}: answered the output ${JSON.stringify(found.output)}`);
    return undefined;
  }

  /** Waits for the end of a run, or of the test. */
  async function ended(next: () => number, id: string): Promise<Answer["body"] | undefined> {
    while (state.going) {
      const { status, body } = await ask(next, "GET", `/runs/${id}`);
      if (status !== 200) {
        issues.push(`${id}: was acknowledged, and is answered with ${status}`);
        return undefined;
      }
      if (["succeeded", "failed", "cancelled"].includes(body.status)) return body;
      await delay(PAUSE_MS);
    }
    return undefined;
  }

  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const next = seededRandom(seed + index + 1);
    while (state.going) {
      await runOnce(next, workflows[Math.floor(next() * workflows.length)]!);
      await delay(PAUSE_MS);
    }
  });

  return {
    acknowledged: (): readonly string[] => acknowledged,
    /** Ends the clients when their present request is answered, and returns what was wrong. */
    async stop(): Promise<string[]> {
      state.going = false;
      await Promise.all(clients);
      return issues;
    },
    /** Returns the runs that exist several times although each was started with one key. */
    async repeatedRuns(access: StateAccess): Promise<string[]> {
      const repeated = await access.rows<{ inputs: string; count: number }>(
        `select inputs, count(*) as count from runs where parent_run is null and inputs like '{"n":1______}'
         group by inputs having count(*) > 1`,
      );
      return repeated.map(({ inputs, count }) => `${count} runs with the inputs ${inputs}`);
    },
  };
}
