/** Reminders and escalations happen once, whichever executors end, compete or come late. */
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../../src/core/clock.ts";
import { testEngine } from "../../support/engine.ts";

const ASKING = {
  steps: [
    {
      id: "ask",
      type: "approval",
      message: "Go on?",
      assignees: ["ann@example.com"],
      remind: ["1h", "3h"],
      escalate: [
        { after: "2h", to: ["ben@example.com"] },
        { after: "4h", to: ["admin"] },
      ],
      timeout: "6h",
    },
  ],
};

async function asked(definition: Record<string, unknown> = ASKING) {
  const harness = await testEngine();
  const queue = await harness.executor();
  const run = await harness.start(await harness.define(definition));
  const settle = async () => {
    queue.wake();
    await queue.waitUntilIdle();
  };
  await settle();
  const ref = { runId: run, stepId: "ask", item: null };
  const events = async () =>
    (await harness.read.approvals.findByStep(ref))!.events.map(({ kind, to }) => `${kind} ${to.join(" ")}`);
  return { harness, queue, run, ref, settle, events };
}

describe("an approval that nobody decides", () => {
  it("is reminded of and escalated, each at its time and once", async () => {
    const { harness, settle, events } = await asked();
    const seen: string[][] = [];
    for (let hour = 0; hour < 5; hour += 1) {
      seen.push(await events());
      harness.clock.advance(HOUR);
      await settle();
    }
    const [asking, first, escalated] = [
      "asked ann@example.com",
      "reminded ann@example.com",
      "escalated ben@example.com",
    ];
    const second = "reminded ann@example.com ben@example.com";
    expect(seen).toEqual([
      [asking],
      [asking, first],
      [asking, first, escalated],
      [asking, first, escalated, second],
      [asking, first, escalated, second, "escalated admin"],
    ]);
    harness.clock.advance(HOUR);
    await settle();
    expect(await events()).toHaveLength(5);
    const entries = await harness.store.read
      .selectFrom("audit_log")
      .select(["operation", "details"])
      .where("operation", "=", "escalate_approval")
      .execute();
    expect(entries.map(({ details }) => (JSON.parse(details!) as { to: string[] }).to)).toEqual([
      ["ben@example.com"],
      ["admin"],
    ]);
  });

  it("is reminded of once by several executors that compete, and by one that comes after a crash", async () => {
    const { harness, queue, events } = await asked();
    await queue.stop(0);
    harness.clock.advance(HOUR);
    // An executor claims the reminder and dies.
    await harness.transaction(async (tx) => {
      await tx.jobs.heartbeat("exe_dead", harness.now());
      const options = { now: harness.now(), limit: 10, limits: new Map(), quarantined: "skip" } as const;
      const claimed = await tx.jobs.claim("exe_dead", options);
      expect(claimed.map(({ kind }) => kind)).toContain("remind");
    });
    await harness.transaction(async (tx) => void (await tx.jobs.reclaim("exe_dead")));
    const others = await Promise.all([harness.executor(), harness.executor(), harness.executor()]);
    for (const other of others) other.wake();
    for (const other of others) await other.waitUntilIdle();
    expect(await events()).toEqual(["asked ann@example.com", "reminded ann@example.com"]);
  });

  it("gets one reminder for several that are due after a standstill, and every escalation", async () => {
    const { harness, queue, events } = await asked();
    await queue.stop(0);
    harness.clock.advance(5 * HOUR);
    const late = await harness.executor();
    late.wake();
    await late.waitUntilIdle();
    const all = await events();
    expect(all.filter((event) => event.startsWith("reminded"))).toHaveLength(1);
    expect(all.filter((event) => event.startsWith("escalated"))).toEqual([
      "escalated ben@example.com",
      "escalated admin",
    ]);
  });

  it("gets neither after its time is up, however late the executors are", async () => {
    const { harness, queue, run, events } = await asked();
    await queue.stop(0);
    harness.clock.advance(7 * HOUR);
    const late = await harness.executor();
    late.wake();
    await late.waitUntilIdle();
    expect(await events()).toEqual(["asked ann@example.com"]);
    expect((await harness.find(run)).status).toBe("failed");
    // There is no mail server. The retry of the mail ran beside the end of the time, and may have read the approval before it.
    harness.clock.advance(HOUR);
    late.wake();
    await late.waitUntilIdle();
    expect(await harness.rows("jobs")).toBe(0);
  });

  it("is reminded of again and again, and no more once its run was cancelled", async () => {
    const step = { id: "ask", type: "approval", message: "?", assignees: ["ann@example.com"], remind: "10m" };
    const { harness, run, settle, events } = await asked({ steps: [step] });
    for (let count = 1; count <= 3; count += 1) {
      harness.clock.advance(10 * MINUTE);
      await settle();
      expect(await events()).toHaveLength(1 + count);
    }
    await harness.stop(run);
    harness.clock.advance(HOUR);
    await settle();
    expect(await events()).toHaveLength(4);
    expect(await harness.rows("jobs")).toBe(0);
  });
});
