/** Mails in the name of an owner: what its limits let through, what waits, and that nobody else waits for it. */
import { simpleParser } from "mailparser";
import { describe, expect, it } from "vitest";
import { HOUR, iso, MINUTE } from "../../../src/core/clock.ts";
import { undoStepId } from "../../../src/core/undo-step-id.ts";
import type { PerKeyLimits } from "../../../src/core/usage-limits.ts";
import { MAIL_ENV, mailConfig } from "../../support/decisions.ts";
import { TEST_ACTOR, testEngine } from "../../support/engine.ts";
import { smtpPeer } from "../../support/mock-smtp-server.ts";

const FLOODER = { ...TEST_ACTOR, keyName: "loop", lineage: "key_loop" };
const OTHER = { ...TEST_ACTOR, keyName: "honest", lineage: "key_honest" };

const mailTo = (to: unknown, more: object = {}) => ({
  id: "send",
  type: "email",
  to,
  subject: "Hello",
  text: "A text.",
  ...more,
});
const ask = (assignees: unknown, more: object = {}) => ({
  id: "ask",
  type: "approval",
  message: "Go on?",
  assignees,
  ...more,
});
const flood = (count: number) =>
  mailTo("${{ item }}@example.com", { for_each: `range(${count}).map(n, "n" + string(n))` });

async function open(perKey: PerKeyLimits, slots?: number) {
  const smtp = await smtpPeer();
  const harness = await testEngine({
    config: mailConfig(smtp.port),
    env: MAIL_ENV,
    perKey,
    ...(slots !== undefined && { slots }),
  });
  const queue = await harness.executor();
  const idle = async (): Promise<void> => {
    queue.wake();
    await queue.waitUntilIdle();
  };
  return {
    ...harness,
    smtp,
    queue,
    idle,
    define: (...steps: object[]) => harness.define({ steps }),
    /** The addresses of the mails in the order in which they were accepted. */
    async received(): Promise<string[]> {
      const mails = await Promise.all(smtp.received.map((raw) => simpleParser(raw)));
      return mails.flatMap(({ to }) =>
        [to].flat().flatMap((one) => one!.value.map(({ address }) => address!)),
      );
    },
    /** Until the next hour begins. */
    async nextHour(): Promise<void> {
      harness.clock.advance(HOUR - (harness.clock.now() % HOUR));
      await idle();
    },
    lastAttempts: (runId: string, item: number | null = null) =>
      harness.read.runs.lastAttempts({ runId, stepId: "send", item }, 10),
  };
}

describe("mails_per_hour", () => {
  it("lets further email steps wait for the next hour, with the reason, while those of others are sent", async () => {
    const { define, start, idle, received, nextHour, lastAttempts, now, read } = await open({
      mails_per_hour: 2,
    });
    const each = await define(mailTo(["ann@example.com"]));
    const runs: string[] = [];
    for (let count = 0; count < 5; count += 1) runs.push(await start(each, { actor: FLOODER }));
    await idle();
    const other = await start(await define(mailTo("ben@example.com", { cc: ["cai@example.com"] })), {
      actor: OTHER,
    });
    await idle();
    expect(await received()).toEqual(["ann@example.com", "ann@example.com", "ben@example.com"]);
    expect((await read.runs.find(other))!.status).toBe("succeeded");
    const held = (await Promise.all(runs.map((run) => read.runs.find(run)))).filter(
      (run) => run!.status !== "succeeded",
    );
    expect(held).toHaveLength(3);
    expect(await lastAttempts(held[0]!.id)).toMatchObject([
      {
        attempt: 1,
        status: "failed",
        error: {
          code: "limit_reached",
          message:
            '"loop" of operator has used all of its 2 mails of this hour (limits.per_key.mails_per_hour); more are available ' +
            `from ${iso(Date.parse(now()) + HOUR)}. The step waits until then.`,
        },
      },
    ]);
    await nextHour();
    await nextHour();
    expect(await received()).toHaveLength(6);
    expect((await Promise.all(runs.map((run) => read.runs.find(run)))).map((run) => run!.status)).toEqual(
      runs.map(() => "succeeded"),
    );
  });

  it("counts an address as one mail, and fails a step with more addresses than it has", async () => {
    const { define, start, idle, received, lastAttempts, read } = await open({ mails_per_hour: 3 });
    const two = await define(mailTo(["ann@example.com"], { cc: "ben@example.com" }));
    await start(two, { actor: FLOODER });
    await start(two, { actor: FLOODER });
    await idle();
    expect(await received()).toEqual(["ann@example.com"]);
    const names = ["a", "b", "c", "d"].map((name) => `${name}@example.com`);
    const run = await start(await define(mailTo(names)), { actor: OTHER });
    await idle();
    expect((await read.runs.find(run))!.status).toBe("failed");
    expect(await lastAttempts(run)).toMatchObject([
      {
        error: {
          code: "limit_reached",
          message:
            'The mail goes to 4 addresses, and "honest" of operator may send 3 mails in an hour (limits.per_key.mails_per_hour).',
        },
      },
    ]);
    // It used nothing of the limit.
    await start(two, { actor: OTHER });
    await idle();
    expect(await received()).toHaveLength(2);
  });

  it("uses up none of a step's retries, also in a fan-out, and ends with the run", async () => {
    const { define, start, idle, received, nextHour, read, stop } = await open({ mails_per_hour: 2 });
    const steps = await define({ ...flood(6), retry: { attempts: 2 } });
    const run = await start(steps, { actor: FLOODER });
    await idle();
    await nextHour();
    await nextHour();
    expect((await received()).toSorted()).toEqual(
      [0, 1, 2, 3, 4, 5].map((number) => `n${number}@example.com`),
    );
    expect((await read.runs.find(run))!.status).toBe("succeeded");
    const another = await start(steps, { actor: FLOODER });
    await idle();
    await stop(another);
    await idle();
    expect((await read.runs.find(another))!.status).toBe("cancelled");
  });

  it("stores nothing more in each hour that a step waits", async () => {
    const { define, start, idle, received, nextHour, lastAttempts, find, now } = await open({
      mails_per_hour: 1,
    });
    const mail = await define(mailTo("ann@example.com", { text: "x".repeat(10_000) }));
    const runs: string[] = [];
    for (let count = 0; count < 4; count += 1) runs.push(await start(mail, { actor: FLOODER }));
    await idle();
    const all = () => Promise.all(runs.map(find));
    const before = await all();
    await nextHour();
    await nextHour();
    expect(await received()).toHaveLength(3);
    const index = (await all()).findIndex(({ status }) => status === "queued");
    const held = runs[index]!;
    expect(await find(held)).toMatchObject({ storedBytes: before[index]!.storedBytes });
    expect(await lastAttempts(held)).toMatchObject([
      { attempt: 1, status: "failed", error: { code: "limit_reached" } },
    ]);
    await nextHour();
    expect((await all()).map(({ status }) => status)).toEqual(runs.map(() => "succeeded"));
    expect(await lastAttempts(held)).toMatchObject([
      { attempt: 1, status: "succeeded", startedAt: now(), error: null },
    ]);
    const [one, ...others] = await all();
    expect(others.map(({ storedBytes }) => storedBytes)).toEqual(others.map(() => one!.storedBytes));
  });

  it("lets a mail that undoes a step wait, stores nothing more meanwhile, and the run ends with it", async () => {
    const { define, start, idle, received, nextHour, outcome, find, read } = await open({
      mails_per_hour: 1,
    });
    const fails = { id: "gate", type: "assert", that: "false", message: "closed", needs: ["hold"] };
    const { id: _, ...undo } = mailTo("ben@example.com", { text: "x".repeat(10_000) });
    const steps = await define({ id: "hold", type: "probe", ask: 1, undo }, fails);
    const other = await define(mailTo("ann@example.com"));
    await start(other, { actor: FLOODER });
    await idle();
    // Both wait until the next hour, which has room for one mail: whichever comes second waits for one hour more.
    const runs = [await start(steps, { actor: FLOODER }), await start(steps, { actor: FLOODER })];
    await idle();
    expect(await received()).toEqual(["ann@example.com"]);
    const all = () => Promise.all(runs.map((run) => find(run)));
    const storedBytes = (await all()).map((run) => run.storedBytes);
    const undoAttempts = (runId: string) =>
      read.runs.lastAttempts({ runId, stepId: undoStepId("hold"), item: null }, 10);
    await nextHour();
    expect(await received()).toEqual(["ann@example.com", "ben@example.com"]);
    const waiting = (await all()).findIndex(({ status }) => status === "running");
    expect(await find(runs[waiting]!)).toMatchObject({ storedBytes: storedBytes[waiting] });
    expect(await undoAttempts(runs[waiting]!)).toMatchObject([
      { attempt: 1, error: { code: "limit_reached" } },
    ]);
    await nextHour();
    expect(await received()).toEqual(["ann@example.com", "ben@example.com", "ben@example.com"]);
    for (const run of runs) {
      expect(await undoAttempts(run)).toMatchObject([{ attempt: 1, status: "succeeded", error: null }]);
      expect(await outcome(run)).toMatchObject({ status: "failed", error: { code: "assert_failed" } });
    }
  });

  it("holds the mails about approvals of the same owner, and loses none", async () => {
    const { define, start, idle, received, nextHour, clock, read } = await open({ mails_per_hour: 3 });
    const asks = await define(ask(["ann@example.com", "ben@example.com"], { remind: ["2h"] }));
    const runs = [await start(asks, { actor: FLOODER }), await start(asks, { actor: FLOODER })];
    await idle();
    expect(await received()).toHaveLength(3);
    clock.advance(MINUTE);
    await idle();
    expect(await received()).toHaveLength(3);
    await nextHour();
    expect(await received()).toHaveLength(4);
    const approvals = await Promise.all(
      runs.map((runId) => read.approvals.findByStep({ runId, stepId: "ask", item: null })),
    );
    for (const approval of approvals)
      expect((await read.approvalMessages.of(approval!.id)).map(({ status }) => status)).toEqual([
        "sent",
        "sent",
      ]);
    // Each of the four reminders counts too.
    await nextHour();
    expect(await received()).toHaveLength(7);
    await nextHour();
    expect(await received()).toHaveLength(8);
  });
});

describe("mails_to_address_per_hour", () => {
  it("limits the mails of an owner to one mailbox, whatever its tag, and not those to others or of others", async () => {
    const { define, start, idle, received, nextHour } = await open({ mails_to_address_per_hour: 2 });
    const tagged = mailTo("ann+${{ item }}@example.com", { for_each: '["1", "2", "3"]' });
    await start(await define(tagged), { actor: FLOODER });
    await idle();
    await start(await define(mailTo("ben@example.com"), ask(["Ann@example.com"])), { actor: FLOODER });
    await start(await define(ask(["ann@example.com"])), { actor: OTHER });
    await idle();
    const sent = await received();
    expect(sent).toHaveLength(4);
    expect(sent.slice(2).toSorted()).toEqual(["ann@example.com", "ben@example.com"]);
    await nextHour();
    expect(await received()).toHaveLength(6);
  });
});

describe("the mails of one owner", () => {
  it("leave a share of the limit of their project to its other members, and wait for the next hour", async () => {
    const { define, start, idle, received, nextHour, store } = await open({});
    await store.transaction((trx) =>
      trx
        .updateTable("projects")
        .set({ limits: JSON.stringify({ mails_per_hour: 8 }) })
        .execute(),
    );
    await start(await define(flood(12)), { actor: FLOODER });
    await idle();
    expect(await received()).toHaveLength(6);
    await start(await define(mailTo("boss@example.com")), { actor: OTHER });
    await idle();
    expect((await received()).slice(6)).toEqual(["boss@example.com"]);
    await nextHour();
    expect(await received()).toHaveLength(13);
  });

  it("are not delayed by those of another one who floods the same server", async () => {
    const { define, start, idle, received } = await open({ mails_per_hour: 20 }, 4);
    await start(await define(flood(200)), { actor: FLOODER });
    await start(await define(ask(["boss@example.com"])), { actor: OTHER });
    await idle();
    const sent = await received();
    expect(sent).toHaveLength(21);
    expect(sent.filter((address) => address === "boss@example.com")).toHaveLength(1);
    // The flood had at most three of four slots, in turns.
    expect(sent.indexOf("boss@example.com")).toBeLessThan(8);
  });
});
