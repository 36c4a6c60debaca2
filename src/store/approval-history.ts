/** What people decided on approvals, and what happened to these meanwhile. */
import type { Insertable, Kysely, Selectable } from "kysely";
import { readMailRecipient } from "../core/approval-delivery-ports.ts";
import type { ApprovalEventRecord, PersonDecision } from "../core/approval-rules.ts";
import type { ApprovalWriter } from "../core/approval-ports.ts";
import { appendAuditEntry } from "./audit-entries.ts";
import { decodeValue } from "./run-values.ts";
import type { Schema } from "./schema.ts";
import type { ByteCounter } from "./stored-bytes.ts";

export interface ApprovalHistory {
  decisions: PersonDecision[];
  events: ApprovalEventRecord[];
}

const toEvent = (
  row: Selectable<Schema["approval_events"]>,
  mailed: readonly string[],
): ApprovalEventRecord => ({
  seq: row.seq,
  kind: row.kind,
  at: row.at,
  by: row.by,
  to: JSON.parse(row.assignees) as string[],
  note: row.note,
  notified: row.notified === 1,
  hadMailServer: row.had_mail_server === 1,
  mailed,
});

const toDecision = async (
  db: Kysely<Schema>,
  row: Selectable<Schema["approval_decisions"]>,
): Promise<PersonDecision> => ({
  person: row.person,
  seat: row.seat,
  name: row.name,
  approved: row.approved === 1,
  override: row.override === 1,
  comment: row.comment,
  answer: row.answer === null ? null : ((await decodeValue(db, row.answer)) as Record<string, unknown>),
  decidedAt: row.decided_at,
  planDigest: row.plan_digest,
});

/** Reads the histories of approvals. @returns that of each of them by its id */
export async function approvalHistories(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<(id: string) => ApprovalHistory> {
  const histories = new Map<string, ApprovalHistory>(ids.map((id) => [id, { decisions: [], events: [] }]));
  if (ids.length > 0) {
    const decisions = await db
      .selectFrom("approval_decisions")
      .selectAll()
      .where("approval_id", "in", ids)
      .orderBy("decided_at")
      .orderBy("person")
      .execute();
    for (const row of decisions) histories.get(row.approval_id)!.decisions.push(await toDecision(db, row));
    const events = await db
      .selectFrom("approval_events")
      .selectAll()
      .where("approval_id", "in", ids)
      .orderBy("seq")
      .execute();
    const mails = events.length === 0 ? new Map<string, string[]>() : await mailsByEvent(db, ids);
    for (const row of events) {
      const mailed = mails.get(`${row.approval_id} ${row.seq}`) ?? [];
      histories.get(row.approval_id)!.events.push(toEvent(row, mailed));
    }
  }
  return (id) => histories.get(id)!;
}

/** The addresses to which mails were sent, sorted, by the approval and the number of the event. */
async function mailsByEvent(db: Kysely<Schema>, ids: readonly string[]): Promise<Map<string, string[]>> {
  const sent = await db
    .selectFrom("approval_messages")
    .select(["approval_id", "recipient"])
    .where("approval_id", "in", ids)
    .where("channel", "=", "mail")
    .where("status", "!=", "refused")
    .orderBy("recipient")
    .execute();
  const found = new Map<string, string[]>();
  for (const { approval_id: id, recipient } of sent) {
    const { email, seq } = readMailRecipient(recipient);
    const key = `${id} ${seq}`;
    found.set(key, [...(found.get(key) ?? []), email]);
  }
  return found;
}

export const approvalHistoryWriter = (
  trx: Kysely<Schema>,
  bytes: ByteCounter,
  encode: (runId: string, value: unknown) => Promise<string>,
): Pick<ApprovalWriter, "addDecision" | "addEvent" | "setNotified"> => {
  const runOf = async (id: string): Promise<string> =>
    (await trx.selectFrom("approvals").select("run_id").where("id", "=", id).executeTakeFirstOrThrow())
      .run_id;
  return {
    async addDecision(
      id,
      { person, seat, name, approved, override, comment, answer, decidedAt, planDigest },
    ) {
      const runId = await runOf(id);
      const row: Insertable<Schema["approval_decisions"]> = {
        approval_id: id,
        plan_digest: planDigest,
        person,
        seat,
        run_id: runId,
        name,
        approved: Number(approved),
        override: Number(override),
        comment,
        answer: answer === null ? null : await encode(runId, answer),
        decided_at: decidedAt,
      };
      const { numInsertedOrUpdatedRows } = await trx
        .insertInto("approval_decisions")
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows !== 1n) return false;
      if (comment !== null) bytes.add(runId, comment);
      return true;
    },

    async addEvent(id, { kind, at, by, to, note, notified, hadMailServer }) {
      const runId = await runOf(id);
      const { last } = await trx
        .selectFrom("approval_events")
        .select((eb) => eb.fn.max("seq").as("last"))
        .where("approval_id", "=", id)
        .executeTakeFirstOrThrow();
      const seq = (last ?? 0) + 1;
      await trx
        .insertInto("approval_events")
        .values({
          approval_id: id,
          seq,
          run_id: runId,
          kind,
          at,
          by,
          assignees: JSON.stringify(to),
          note,
          notified: Number(notified),
          had_mail_server: Number(hadMailServer),
        })
        .execute();
      if (note !== null) bytes.add(runId, note);
      // The audit entry comes last: it locks the newest one. Nobody's request adds one for the others.
      if (kind === "escalated") await auditEscalation(trx, { id, runId, at, to });
      return seq;
    },

    async setNotified(id, seqs) {
      if (seqs.length === 0) return;
      await trx
        .updateTable("approval_events")
        .set({ notified: 1 })
        .where("approval_id", "=", id)
        .where("seq", "in", seqs)
        .execute();
    },
  };
};

/** An escalation happens in the name of who started the run. */
async function auditEscalation(
  trx: Kysely<Schema>,
  { id, runId, at, to }: { id: string; runId: string; at: string; to: readonly string[] },
): Promise<void> {
  const run = await trx
    .selectFrom("runs")
    .select(["owner", "key_name", "lineage", "surface", "client", "project"])
    .where("id", "=", runId)
    .executeTakeFirstOrThrow();
  await appendAuditEntry(trx, {
    at,
    operation: "escalate_approval",
    target: id,
    project: run.project,
    owner: run.owner,
    keyName: run.key_name,
    lineage: run.lineage,
    surface: run.surface,
    client: run.client,
    requestId: null,
    details: { run_id: runId, to },
  });
}
