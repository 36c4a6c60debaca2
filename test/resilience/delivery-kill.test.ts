import type { ChildProcess } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { iso, SECOND, systemClock } from "../../src/core/clock.ts";
import type { Writers } from "../../src/core/ports.ts";
import { createSubscription } from "../../tools/subscriptions/create-subscription.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { spawnChaosWorker } from "../support/chaos-worker.ts";
import { eventually } from "../support/eventually.ts";
import { testInstance } from "../support/instance.ts";
import { seededRandom, testSeed } from "../support/random.ts";
import { eventReceiver, FAILS, SUCCEEDS, verify } from "../support/subscriptions.ts";
import { callAs, keyPrincipal } from "../support/users.ts";

const RUNS = 40;
const WORKERS = 2;
/** After so many requests the receiver is healthy, and nobody is killed any more. */
const FAULTY_REQUESTS = 120;
const MAX_KILLS = 8;
/** Attempts at one delivery that may fail: less than after which it is given up. */
const MAX_FAILURES = 4;

/**
 * Workers are killed while they deliver, and the receiver fails, hangs and cuts connections. Nothing is lost, each event keeps its
 * id, and nothing reports what was rolled back.
 */
it("delivers every event at least once with the same id, whatever fails", { timeout: 180_000 }, async () => {
  const random = seededRandom(testSeed("delivery-kill"));
  const workers: ChildProcess[] = [];
  let [requests, kills] = [0, 0];
  const attempts = new Map<string, number>();
  const receiver = await eventReceiver((response, { headers }) => {
    requests += 1;
    const id = headers["webhook-id"] as string;
    const attempt = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, attempt);
    const isCalm = requests > FAULTY_REQUESTS || attempt > MAX_FAILURES;
    // In the middle of a delivery.
    if (!isCalm && kills < MAX_KILLS && random() < 0.1) {
      kills += 1;
      workers.splice(Math.floor(random() * workers.length), 1)[0]!.kill("SIGKILL");
      startWorker();
    }
    const dice = isCalm ? 1 : random();
    if (dice < 0.15) return;
    if (dice < 0.3) return void response.destroy();
    if (dice < 0.4) {
      response.writeHead(200, { "content-length": "100" });
      return void response.write("cut", () => response.destroy());
    }
    response.writeHead(dice < 0.6 ? 503 : 204).end();
  });
  const config = { http: { allowed_hosts: [receiver.host] } };
  const instance = await testInstance({ clock: systemClock, config });
  const call = callAs(instance, keyPrincipal());
  const { secret } = await call(createSubscription, {
    name: "chaos",
    url: receiver.url,
    events: ["run.succeeded", "run.failed", "workflow.published"],
  });
  for (const [name, definition] of [
    ["Good", SUCCEEDS],
    ["Bad", FAILS],
  ] as const) {
    await call(createWorkflow, { name, definition });
    await call(publishWorkflow, { workflow_id: name.toLowerCase() });
  }
  const startWorker = (): void => void workers.push(spawnChaosWorker(instance.stateDir, config));
  onTestFinished(() => workers.forEach((worker) => worker.kill("SIGKILL")));
  for (let count = 0; count < WORKERS; count += 1) startWorker();

  const expected = new Set<string>();
  for (let count = 0; count < RUNS; count += 1) {
    const { id } = (await call(runWorkflow, { workflow_id: random() < 0.5 ? "good" : "bad", wait: 0 })) as {
      id: string;
    };
    expected.add(id);
    if (random() < 0.3) await rolledBack(`run_rolledback${count}`);
  }
  await eventually(
    async () => {
      const open = await instance.store.read
        .selectFrom("deliveries")
        .select("id")
        .where("state", "!=", "delivered")
        .limit(1)
        .execute();
      const unfinished = await instance.read.runs.countUnfinishedByStatus();
      return open.length === 0 && Object.keys(unfinished).length === 0 ? true : undefined;
    },
    "every delivery",
    120 * SECOND,
  );

  const byRun = new Map<string, Set<string>>();
  for (const { headers, body } of receiver.received) {
    const { data } = verify(secret!, headers, body) as { data: { run?: { id: string } } };
    if (data.run === undefined) continue;
    const ids = byRun.get(data.run.id) ?? new Set();
    byRun.set(data.run.id, ids.add(headers["webhook-id"] as string));
  }
  expect(new Set(byRun.keys())).toEqual(expected);
  expect([...byRun.values()].filter((ids) => ids.size !== 1)).toEqual([]);
  console.log(`${expected.size} runs, ${requests} requests, ${kills} workers killed`);

  /** Records an event in a transaction that fails. */
  async function rolledBack(runId: string): Promise<void> {
    const actor = { principal: keyPrincipal(), client: { surface: "rest", name: "vitest" } } as const;
    const effect = async (tx: Writers): Promise<void> => {
      const event = {
        type: "run.failed",
        project: "default",
        workflowId: "good",
        runId,
        at: iso(Date.now()),
        data: {},
      } as const;
      expect(await tx.outbox.record(event)).toBe(1);
      throw new Error("rolled back");
    };
    await expect(instance.write({ operation: "chaos", actor, requestId: "req_1" }, effect)).rejects.toThrow(
      "rolled back",
    );
  }
});
