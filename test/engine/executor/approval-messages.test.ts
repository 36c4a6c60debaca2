/** Mails about an approval when the executor that sends them dies. */
import { simpleParser } from "mailparser";
import { expect, it } from "vitest";
import { MINUTE } from "../../../src/core/clock.ts";
import { MAIL_ENV, mailConfig } from "../../support/decisions.ts";
import { testEngine } from "../../support/engine.ts";
import { smtpPeer } from "../../support/mock-smtp-server.ts";

it("are sent to all, and not again to whom they are recorded as sent, after an executor has died", async () => {
  let isUp = false;
  const smtp = await smtpPeer(() => isUp);
  const harness = await testEngine({ config: mailConfig(smtp.port), env: MAIL_ENV });
  const queue = await harness.executor();
  const assignees = ["cfo@example.com", "coo@example.com", "ceo@example.com"];
  const run = await harness.start(
    await harness.define({
      steps: [{ id: "ask", type: "approval", message: "Go on?", assignees, decide_by_link: true }],
    }),
  );
  queue.wake();
  await queue.waitUntilIdle();
  await queue.stop(0);
  expect(smtp.received).toEqual([]);
  const approval = (await harness.read.approvals.findByStep({ runId: run, stepId: "ask", item: null }))!;

  // The next executor claims the job, records that it has sent the first mail, and dies.
  harness.clock.advance(MINUTE);
  isUp = true;
  await harness.transaction(async (tx) => {
    await tx.jobs.heartbeat("exe_dead", harness.now());
    const options = { now: harness.now(), limit: 10, limits: new Map(), quarantined: "skip" } as const;
    expect((await tx.jobs.claim("exe_dead", options)).map(({ kind }) => kind)).toContain("notify");
    await tx.approvalMessages.put({
      approvalId: approval.id,
      channel: "mail",
      recipient: assignees[0]!,
      at: approval.createdAt,
      status: "sent",
      reference: null,
    });
  });
  await harness.transaction(async (tx) => void (await tx.jobs.reclaim("exe_dead")));
  const others = await Promise.all([harness.executor(), harness.executor()]);
  for (const other of others) other.wake();
  for (const other of others) await other.waitUntilIdle();

  const mails = await Promise.all(smtp.received.map((raw) => simpleParser(raw)));
  expect(new Set(mails.map(({ to }) => [to].flat()[0]?.text))).toEqual(new Set(assignees.slice(1)));
  expect(mails).toHaveLength(2);
  const links = mails.map(({ text }) => /\/decide\/[0-9A-Za-z]{32}/.exec(text!)?.[0]);
  expect(new Set(links).size).toBe(2);
  expect(links).not.toContain(undefined);
  expect((await harness.read.approvalMessages.of(approval.id)).map(({ status }) => status)).toEqual([
    "sent",
    "sent",
    "sent",
  ]);
});

it("are sent late to those whom they concern, not to those to whom it was escalated meanwhile", async () => {
  let isUp = false;
  const smtp = await smtpPeer(() => isUp);
  const harness = await testEngine({ config: mailConfig(smtp.port), env: MAIL_ENV });
  const queue = await harness.executor();
  const settle = async (ms: number): Promise<void> => {
    harness.clock.advance(ms);
    queue.wake();
    await queue.waitUntilIdle();
  };
  const step = {
    id: "ask",
    type: "approval",
    message: "Go on?",
    assignees: ["cfo@example.com"],
    escalate: [{ after: "1m", to: ["coo@example.com"] }],
  };
  const run = await harness.start(await harness.define({ steps: [step] }));
  await settle(0);
  await settle(MINUTE);
  isUp = true;
  for (let minute = 0; minute < 10; minute += 1) await settle(MINUTE);
  const mails = await Promise.all(smtp.received.map((raw) => simpleParser(raw)));
  expect(
    mails.map(({ to, subject }) => `${[to].flat()[0]!.text}: ${subject!.split(":")[0]}`).toSorted(),
  ).toEqual(["cfo@example.com: Approval needed", "coo@example.com: Escalated to you"]);
  const approval = await harness.read.approvals.findByStep({ runId: run, stepId: "ask", item: null });
  expect(
    approval!.events.map(({ kind, mailed, hadMailServer }) => ({ kind, mailed, hadMailServer })),
  ).toEqual([
    { kind: "asked", mailed: ["cfo@example.com"], hadMailServer: true },
    { kind: "escalated", mailed: ["coo@example.com"], hadMailServer: true },
  ]);
});
