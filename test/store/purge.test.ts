import type { Insertable } from "kysely";
import { sql } from "kysely";
import { FIRST_DECIDES } from "../../src/core/approval-rules.ts";
import { encodeJson } from "../../src/core/encoded-json.ts";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { DAY, HOUR, iso, MINUTE } from "../../src/core/clock.ts";
import { rateLimitCounter } from "../../src/store/rate-limit-counts.ts";
import { purgeExpired } from "../../src/store/purge.ts";
import { linkWriter } from "../../src/store/links.ts";
import { mcpSessionStore } from "../../src/store/mcp-sessions.ts";
import { mcpSubscriptionStore } from "../../src/store/mcp-subscriptions.ts";
import { oauthStateStore } from "../../src/store/oauth-states.ts";
import type { Schema } from "../../src/store/schema.ts";
import { sessionStore, sessionWriter } from "../../src/store/sessions.ts";
import { usageWriter } from "../../src/store/usage.ts";
import { newBacktest } from "../support/backtest-records.ts";
import { newBulkAction } from "../support/bulk-action-records.ts";
import { runToEnd, testEngine } from "../support/engine.ts";
import { newInterruption } from "../support/interruption-records.ts";

/** The search index of workflows, which is as permanent as they are. */
const SEARCH_TABLES = [
  "workflow_numbers",
  "workflow_search",
  "workflow_search_config",
  "workflow_search_data",
  "workflow_search_docsize",
  "workflow_search_idx",
];
/** Tables with permanent rows: workflows, their versions, the slots of their rates, users and keys are never purged. */
const PERMANENT = [
  "api_keys",
  "counters",
  "expectations",
  "exposure_consents",
  "grants",
  "identities",
  "migrations",
  "project_members",
  "projects",
  "rate_slots",
  "reviews",
  "schedules",
  "settings",
  "state_changes",
  "stored_bytes",
  "subscriptions",
  "triggers",
  "users",
  "workflow_calls",
  "workflow_offers",
  "workflow_publications",
  "workflow_states",
  "workflow_versions",
  "workflows",
  ...SEARCH_TABLES,
];
/** Tables whose rows end with their work, not after a time. */
const WORK = ["executors", "jobs"];
const OF_RUNS = [
  "approval_decisions",
  "approval_events",
  "approvals",
  "approval_links",
  "approval_link_visits",
  "approval_messages",
  "events",
  "fan_outs",
  "interruptions",
  "run_attempts",
  "run_steps",
  "run_values",
  "runs",
  "value_refs",
];

const OF_BACKTESTS = ["backtests", "backtest_runs"];
const OF_BULK_ACTIONS = ["bulk_actions", "bulk_action_runs"];

const OF_DELIVERIES = ["deliveries", "outgoing_events"];

const KEEP = { runs: 90 * DAY, audit: 400 * DAY, deliveries: 30 * DAY };

/** A store in which every temporary table has rows that were created now. */
async function filled() {
  const engine = await testEngine();
  const { store, clock, write, rows } = engine;
  const now = clock.now();
  const { id, queue } = await runToEnd(
    engine,
    {
      inputs: { type: "object", properties: { words: { type: "string" } } },
      steps: [{ id: "each", type: "set", for_each: "[1, 2]", values: { n: "${{ item }}" } }],
    },
    { inputs: { words: "long ".repeat(10_000) } },
  );
  await queue.stop(0);
  // Writes an idempotency record and an audit entry.
  await write(async (tx) => (await tx.recordAudit("weekly-revenue"), null), {
    idempotency: { key: "k", input: {} },
  });
  await write(async (tx) => {
    await tx.runs.saveCachedOutput("key", iso(now + HOUR), encodeJson({}));
    const event = { receivedAt: iso(now), body: {} };
    expect(await tx.events.receive({ runId: id, stepId: "each" }, event)).toBe(true);
    await tx.approvals.insert({
      id: "apr_1",
      runId: id,
      workflowId: "test",
      stepId: "each",
      item: null,
      status: "approved",
      message: "Continue?",
      form: null,
      assignees: [],
      createdAt: iso(now),
      expiresAt: null,
      decidedAt: null,
      decidedBy: null,
      comment: null,
      answer: null,
      plan: null,
      rules: FIRST_DECIDES,
      evidence: null,
      delivery: { byLink: false, chat: [] },
      decidedVia: null,
    });
    await tx.approvals.addDecision("apr_1", {
      person: "ann@example.com",
      seat: "ann@example.com",
      name: "ann@example.com",
      approved: true,
      override: false,
      comment: null,
      answer: null,
      decidedAt: iso(now),
      planDigest: "plan",
    });
    const asked = { kind: "asked", at: iso(now), by: null, to: [], note: null, notified: true } as const;
    await tx.approvals.addEvent("apr_1", asked);
    await tx.users.setAbsence("ann@example.com", {
      startsAt: iso(now),
      endsAt: iso(now + DAY),
      substitute: "ben@example.com",
      setAt: iso(now),
    });
    await tx.outbox.recordFor("sub_1", {
      type: "subscription.test",
      project: "default",
      workflowId: null,
      runId: null,
      at: iso(now),
      data: {},
    });
    const delivered = {
      state: "delivered",
      dueAt: null,
      status: 204,
      response: "",
      error: null,
      ms: 1,
    } as const;
    const claim = { now: iso(now), until: iso(now + HOUR), by: "exe_1", limit: 1 };
    const [delivery] = await tx.deliveryQueue.claim("sub_1", claim);
    expect(await tx.deliveryQueue.recordAttempt(delivery!, { ...delivered, at: iso(now) })).toBe(true);
    const notice = { keyId: "key_1", expiresAt: iso(now + DAY), days: 1 };
    expect(await tx.keyNotices.recordNotice(notice)).toBe(true);
    await tx.triggerDeliveries.record({
      id: "trd_1",
      triggerId: "trg_1",
      workflowId: "test",
      receivedAt: iso(now),
      status: "filtered",
      runId: null,
      key: null,
      senderId: null,
      code: null,
      reason: null,
      bytes: 2,
      redeliveryOf: null,
      redeliveredBy: null,
      isSigned: true,
      event: { body: {}, headers: {}, query: {} },
    });
    const digest = Buffer.from("decides");
    const link = { digest, approvalId: "apr_1", recipient: "ann@example.com", planDigest: "p" };
    await tx.approvalLinks.insert({ ...link, createdAt: iso(now) });
    await tx.approvalLinks.addVisit(digest, { address: "127.0.0.1", client: "Firefox", at: iso(now) });
    const message = { approvalId: "apr_1", channel: "mail", recipient: "ann@example.com" } as const;
    await tx.approvalMessages.put({ ...message, at: iso(now), status: "sent", reference: null });
    await tx.backfills.insert({
      id: "bf_1",
      workflowId: "test",
      project: "default",
      version: 1,
      cron: "0 * * * *",
      timezone: "UTC",
      from: iso(now),
      to: iso(now + HOUR),
      concurrency: 1,
      existing: "skip",
      status: "finished",
      nextAt: null,
      total: 1,
      started: 1,
      skipped: 0,
      reason: null,
      message: null,
      actor: { owner: "ann@example.com", keyName: "ci", lineage: "key_1", surface: "cli", client: "" },
      createdAt: iso(now),
      keyLimits: null,
      finishedAt: iso(now),
      cancelledBy: null,
    });
    const backtest = newBacktest("bt_1", { status: "finished", finishedAt: iso(now), createdAt: iso(now) });
    await tx.backtests.insert(backtest, [id]);
    const ended = { status: "finished", finishedAt: iso(now), createdAt: iso(now) } as const;
    await tx.bulkActions.insert(newBulkAction("blk_1", ended), [{ run: id, planDigest: null }]);
    expect(await tx.interruptions.open(newInterruption("int_1", { runId: id }))).toBe(true);
    await tx.users.insert({
      id: "usr_1",
      email: "ann@example.com",
      role: "admin",
      status: "active",
      passwordHash: null,
      roleSource: null,
      verifiedAt: null,
      createdAt: iso(now),
      createdBy: "operator",
      lastLoginAt: null,
    });
  });
  await store.transaction(async (trx) => {
    await usageWriter(trx).add("key_1", "runs", now + HOUR, 1);
    const link = { kind: "reset", userId: null, createdAt: iso(now), expiresAt: iso(now + 7 * DAY) } as const;
    await linkWriter(trx, clock).insert({ ...link, digest: Buffer.from("used") });
    await linkWriter(trx, clock).consume(Buffer.from("used"));
    await linkWriter(trx, clock).insert({ ...link, digest: Buffer.from("unused") });
    await sessionWriter(trx, clock).insert({
      id: "ses_1",
      userId: "usr_1",
      digest: Buffer.from("s"),
      createdAt: iso(now),
      lastSeenAt: iso(now),
      expiresAt: iso(now + 30 * DAY),
      client: "",
      address: "",
      external: false,
      endedAt: null,
    });
  });
  await rateLimitCounter(store).increment([{ key: "account", windowMs: 15 * MINUTE }], now);
  const code = { payload: {}, grantId: null, expiresAt: now + HOUR };
  await oauthStateStore(store, clock).save("AuthorizationCode", Buffer.from("code"), code);
  const mcp = mcpSessionStore(store, clock);
  await mcp.insert({ id: "http_1", keyId: "key_1", kind: "http", holder: null, initialize: "{}" });
  await mcpSubscriptionStore(store).insert(
    { sessionId: "http_1", uri: "millrace://runs/a", mark: "1" },
    "ann",
  );
  await mcp.insert({ id: "sse_1", keyId: "key_1", kind: "sse", holder: "copy", initialize: null });
  await mcp.heartbeat("copy");
  await mcp.enqueueMessage("sse_1", "{}");

  const { rows: tables } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`.execute(store.read);
  return {
    ...engine,
    run: id,
    /** The temporary tables that have rows, by name. */
    async remaining(): Promise<string[]> {
      const found: string[] = [];
      for (const { name } of tables)
        if (!PERMANENT.includes(name) && (await rows(name as keyof Schema)) > 0) found.push(name);
      return found.toSorted();
    },
    tables: tables.map(({ name }) => name).toSorted(),
    async purge() {
      await purgeExpired(store, clock, KEEP);
      await sessionStore(store).purge(iso(clock.now()), iso(clock.now() - 3 * DAY));
    },
  };
}

describe("purging", () => {
  it("classifies every existing table as temporary or permanent", async () => {
    const { tables, remaining } = await filled();
    const temporary = tables.filter((name) => ![...PERMANENT, ...WORK].includes(name));
    // Otherwise a table that was always empty would count as purged.
    expect(await remaining()).toEqual(temporary);
    expect([...temporary, ...PERMANENT, ...WORK].toSorted()).toEqual(tables);
  });

  it("leaves no temporary rows after all of them have expired", async () => {
    const world = await filled();
    world.clock.advance(401 * DAY);
    await world.purge();
    expect(await world.remaining()).toEqual([]);
    expect(await world.rows("workflows")).toBe(1);
    expect(await world.rows("workflow_versions")).toBe(1);
    expect(await world.rows("users")).toBe(1);
  });

  it("deletes each kind of row after its own retention, and not before", async () => {
    const world = await filled();
    const all = await world.remaining();
    await world.purge();
    expect(await world.remaining()).toEqual(all);
    world.clock.advance(5 * MINUTE + 1);
    await world.purge();
    expect(all.filter((name) => name !== "mcp_messages" && name !== "mcp_holders")).toEqual(
      await world.remaining(),
    );
    expect(await world.rows("mcp_sessions")).toBe(1);
    world.clock.advance(DAY);
    await world.purge();
    expect(await world.remaining()).toEqual(
      [
        "account_links",
        "audit_log",
        "backfills",
        ...OF_BACKTESTS,
        ...OF_BULK_ACTIONS,
        ...OF_DELIVERIES,
        ...OF_RUNS,
        "sessions",
        "trigger_deliveries",
      ].toSorted(),
    );
    world.clock.advance(8 * DAY);
    await world.purge();
    expect(await world.remaining()).toEqual(
      [
        "audit_log",
        "backfills",
        ...OF_BACKTESTS,
        ...OF_BULK_ACTIONS,
        ...OF_DELIVERIES,
        ...OF_RUNS,
        "trigger_deliveries",
      ].toSorted(),
    );
    expect(await world.read.triggerDeliveries.event("trd_1")).toBeUndefined();
    world.clock.advance(90 * DAY);
    await world.purge();
    expect(await world.remaining()).toEqual(["audit_log"]);
  });

  it("never deletes an unfinished run, however old", async () => {
    const world = await filled();
    const id = await world.start("test");
    world.clock.advance(1_000 * DAY);
    await world.purge();
    expect((await world.find(id)).status).toBe("queued");
    expect(await world.read.runs.find(world.run)).toBeUndefined();
  });

  it("deletes old audit entries in batches, also those of a clock that was ahead", async () => {
    const { store, clock, rows } = await testEngine();
    const before = iso(clock.now() - 400 * DAY - 1);
    const entries = Array.from({ length: 4_500 }, (_, index): Insertable<Schema["audit_log"]> => ({
      // One was written by a process whose clock was ahead.
      at: index === 3 ? iso(clock.now() + DAY) : index >= 4_400 ? iso(clock.now()) : before,
      operation: "run_workflow",
      target: "t",
      owner: "operator",
      key_name: "ci",
      surface: "rest",
      client: "c",
      request_id: "r",
    }));
    await store.transaction(async (trx) => {
      for (let from = 0; from < entries.length; from += 500)
        await trx
          .insertInto("audit_log")
          .values(entries.slice(from, from + 500))
          .execute();
    });
    let transactions = 0;
    const counted: Pick<typeof store, "transaction"> = {
      transaction(work) {
        transactions += 1;
        return store.transaction(work);
      },
    };
    await purgeExpired(counted, clock, KEEP);
    expect(await rows("audit_log")).toBe(100);
    expect(transactions).toBeGreaterThan(8);
  });

  it("purges in small transactions, each followed by a pause as long as it took", async () => {
    const engine = await testEngine();
    const { store, clock, rows } = engine;
    const { id, queue } = await runToEnd(engine, { steps: [{ id: "a", type: "set", values: { x: 1 } }] });
    await queue.stop(0);
    await store.transaction(async (trx) => {
      await sql`update runs set workflow_id = null`.execute(trx);
      const row = await trx.selectFrom("runs").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
      const { subject: _, ...run } = row;
      for (let n = 0; n < 34; n += 1)
        await trx
          .insertInto("runs")
          .values({ ...run, id: `run_${n}`, workflow_id: null })
          .execute();
    });
    clock.advance(91 * DAY);
    const events: string[] = [];
    let now = 0;
    const watch = vi.spyOn(performance, "now").mockImplementation(() => now);
    onTestFinished(() => watch.mockRestore());
    const timed: Pick<typeof store, "transaction"> = {
      async transaction(work) {
        // The wait for the lock is no reason to pause.
        now += 1_000;
        const before = await rows("runs");
        const result = await store.transaction(async (trx, left) => {
          const done = await work(trx, left);
          now += 7;
          return done;
        });
        events.push(`${before - (await rows("runs"))} runs`);
        return result;
      },
    };
    await purgeExpired(timed, clock, KEEP, async (ms) => void events.push(`pause ${ms}`));
    expect(events.slice(0, 8)).toEqual([10, 10, 10, 5].flatMap((count) => [`${count} runs`, "pause 7"]));
    expect(events.filter((event) => event === "pause 7")).toHaveLength(events.length / 2);
  });

  it("keeps audit entries without gaps: those after one that is not yet old", async () => {
    const { store, clock, rows } = await testEngine();
    const [old, young] = [iso(clock.now() - 400 * DAY - 1), iso(clock.now() - DAY)];
    const insert = (at: string) =>
      store.transaction((trx) =>
        trx
          .insertInto("audit_log")
          .values({ at, operation: "o", owner: "operator", surface: "rest", client: "c" })
          .execute(),
      );
    for (const at of [old, old, young, old]) await insert(at);
    await purgeExpired(store, clock, KEEP);
    expect(await rows("audit_log")).toBe(2);
    clock.advance(400 * DAY);
    await purgeExpired(store, clock, KEEP);
    expect(await rows("audit_log")).toBe(0);
  });
});
