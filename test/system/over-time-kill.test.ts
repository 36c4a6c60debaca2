/** Kills executors during a backfill, around reminders and escalations of approvals, and while alerts on overdue workflows are raised. */
import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { simpleParser } from "mailparser";
import { expect, it, onTestFinished } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../src/core/clock.ts";
import { listApprovals } from "../../tools/approvals/list-approvals.ts";
import { getBackfill } from "../../tools/backfills/get-backfill.ts";
import { startBackfill } from "../../tools/backfills/start-backfill.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { createSubscription } from "../../tools/subscriptions/create-subscription.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { fastClock, spawnChaosWorker } from "../support/chaos-worker.ts";
import { MAIL_ENV, mailConfig } from "../support/decisions.ts";
import { eventually } from "../support/eventually.ts";
import { testInstance } from "../support/instance.ts";
import { smtpPeer } from "../support/mock-smtp-server.ts";
import { seededRandom, testSeed } from "../support/random.ts";
import { eventReceiver } from "../support/subscriptions.ts";
import { callAs, signedInUser } from "../support/users.ts";

const WORKERS = 2;
const KILLS = 12;
const SLOTS = 60;
const CONCURRENCY = 3;
const APPROVALS = 8;
const OVERDUE = 20;
/** Reminders wait for a minute at least: here for 2 s. */
const TIME_FACTOR = 30;

const EVERY_MINUTE = {
  schedule: { cron: "* * * * *", inputs: { at: "${{ run.scheduled_for }}" } },
  inputs: { type: "object", properties: { at: { type: "string" } } },
  steps: [{ id: "pause", type: "wait", for: "2s" }],
  output: "${{ inputs.at }}",
};
const ASKING = {
  steps: [
    {
      id: "ask",
      type: "approval",
      message: "Go on?",
      assignees: ["ann@example.com"],
      remind: ["1m", "4m"],
      escalate: [
        { after: "2m", to: ["ben@example.com"] },
        { after: "5m", to: ["cat@example.com"] },
      ],
      timeout: "2d",
    },
  ],
};
const NIGHTLY = {
  steps: [{ id: "a", type: "set", values: { done: true } }],
  must_succeed: { every: "1h", mail: ["ops@example.com"] },
};

it(
  "start each time of a backfill once, and remind, escalate and alert once, whichever process is killed",
  { timeout: 240_000 },
  async () => {
    const random = seededRandom(testSeed("over-time-kill"));
    const workers: ChildProcess[] = [];
    let kills = 0;
    const startWorker = (): void =>
      void workers.push(
        spawnChaosWorker(instance.stateDir, config, { env: MAIL_ENV, timeFactor: TIME_FACTOR }),
      );
    /** Kills one of the executors in the middle of what it does, and starts another one. */
    const maybeKill = (probability: number): void => {
      if (workers.length < WORKERS || kills >= KILLS || random() >= probability) return;
      kills += 1;
      workers.splice(Math.floor(random() * workers.length), 1)[0]!.kill("SIGKILL");
      startWorker();
    };

    const receiver = await eventReceiver((response) => {
      maybeKill(0.1);
      response.writeHead(204).end();
    });
    const smtp = await smtpPeer(() => {
      maybeKill(0.1);
      return true;
    });
    const config = {
      ...mailConfig(smtp.port),
      mail: { allowed_domains: ["example.com"] },
      http: { allowed_hosts: [receiver.host] },
    };
    // What must succeed every hour was published two hours ago.
    const fast = fastClock(TIME_FACTOR);
    const clock = { ...fast, now: () => fast.now() - behind };
    let behind = 2 * HOUR;
    const instance = await testInstance({ clock, config, env: MAIL_ENV });
    const { principal } = await signedInUser(instance, { email: "root@example.com", role: "admin" });
    const call = callAs(instance, principal);
    const publish = async (name: string, definition: Record<string, unknown>): Promise<string> => {
      const { id } = await call(createWorkflow, { name, definition });
      await call(publishWorkflow, { workflow_id: id });
      return id;
    };
    const overdue: string[] = [];
    for (let count = 0; count < OVERDUE; count += 1) overdue.push(await publish(`Nightly ${count}`, NIGHTLY));
    behind = 0;
    const { secret } = await call(createSubscription, {
      name: "overdue",
      url: receiver.url,
      events: ["workflow.overdue"],
    });
    const scheduled = await publish("Every minute", EVERY_MINUTE);
    const asking = await publish("Asking", ASKING);
    const end = Math.floor(clock.now() / MINUTE) * MINUTE - MINUTE;
    const range = {
      from: new Date(end - (SLOTS - 1) * MINUTE).toISOString(),
      to: new Date(end).toISOString(),
    };
    const { id: backfill } = await call(startBackfill, {
      workflow_id: scheduled,
      ...range,
      concurrency: CONCURRENCY,
    });
    for (let count = 0; count < APPROVALS; count += 1)
      await call(runWorkflow, { workflow_id: asking, wait: 0 });
    for (let count = 0; count < WORKERS; count += 1) startWorker();
    onTestFinished(() => workers.forEach((worker) => worker.kill("SIGKILL")));

    const deadline = Date.now() + 150 * SECOND;
    const isDone = async (): Promise<boolean> => {
      const found = await call(getBackfill, { workflow_id: scheduled, backfill_id: backfill });
      const unfinished = await instance.read.backfills.unfinishedRuns(backfill);
      expect(unfinished.length).toBeLessThanOrEqual(CONCURRENCY);
      const { events } = await approvals();
      const pending = await instance.store.read
        .selectFrom("deliveries")
        .select("id")
        .where("state", "!=", "delivered")
        .limit(1)
        .execute();
      // A reminder that a killed executor had begun comes later than the escalation after it.
      const jobs = await instance.store.read
        .selectFrom("jobs")
        .select("id")
        .where("kind", "in", ["remind", "escalate", "notify"])
        .limit(1)
        .execute();
      // Some arrive twice.
      const alerted = new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
      const escalated = events.filter(({ kind }) => kind === "escalated").length;
      return (
        found.status === "finished" &&
        escalated === 2 * APPROVALS &&
        events.every(({ notified }) => notified) &&
        pending.length === 0 &&
        jobs.length === 0 &&
        alerted.size >= OVERDUE &&
        kills >= KILLS
      );
    };
    while (!(await isDone())) {
      if (Date.now() > deadline) throw new Error(`not done after ${kills} kills`);
      maybeKill(0.15);
      await delay(20 + random() * 100);
    }

    // The backfill: one run for each minute, each of which succeeded.
    const { items: runs } = await instance.read.runs.page({
      filter: { workflowId: scheduled },
      after: null,
      limit: 1_000,
    });
    const filled = runs.filter((run) => run.backfill === backfill);
    expect(new Set(filled.map((run) => run.scheduledFor)).size).toBe(SLOTS);
    expect(filled.map(({ status }) => status)).toEqual(Array.from({ length: SLOTS }, () => "succeeded"));
    const outputs = await Promise.all(filled.map(({ id }) => instance.read.runs.runOutput(id)));
    expect(outputs).toEqual(filled.map((run) => run.scheduledFor));

    // Approvals: each was asked for once and escalated twice; reminders that fell due together were sent as one.
    const { events, perApproval } = await approvals();
    expect(perApproval).toHaveLength(APPROVALS);
    for (const kinds of perApproval) {
      expect(kinds.filter((kind) => kind === "asked")).toHaveLength(1);
      expect(kinds.filter((kind) => kind === "escalated")).toHaveLength(2);
      const reminded = kinds.filter((kind) => kind === "reminded").length;
      expect([1, 2]).toContain(reminded);
    }
    // A mail that was sent again has the same Message-ID. Each event reached each of its people.
    const mails = await eventually(async () => {
      const parsed = await Promise.all(smtp.received.map((raw) => simpleParser(raw)));
      const ids = new Map(parsed.map((mail) => [mail.messageId, [mail.to].flat()[0]!.text]));
      return ids.size >= expectedMails() ? [...ids.values()] : undefined;
    }, "every mail");
    expect(mails).toHaveLength(expectedMails());
    expect(mails.filter((to) => to === "ops@example.com")).toHaveLength(OVERDUE);

    // Alerts: one event for each workflow, however often it was delivered.
    const alerts = receiver.verified(secret!);
    const alerted = new Map(
      alerts.map(({ id, data }) => [id, (data as { workflow: { id: string } }).workflow.id]),
    );
    expect([...alerted.values()].toSorted()).toEqual(overdue.toSorted());
    console.log(
      `${kills} executors killed; ${smtp.received.length} mails (${mails.length} different), ` +
        `${alerts.length} alerts delivered (${alerted.size} different)`,
    );

    function expectedMails(): number {
      const ofApprovals = events.reduce((sum, { to }) => sum + to.length, 0);
      // The publisher and the address of the definition.
      return ofApprovals + 2 * OVERDUE;
    }

    async function approvals() {
      const { items } = await call(listApprovals, { status: "pending" });
      const records = await Promise.all(items.map(({ id }) => instance.read.approvals.find(id)));
      return {
        events: records.flatMap((record) => record!.events),
        perApproval: records.map((record) => record!.events.map(({ kind }) => kind)),
      };
    }
  },
);
