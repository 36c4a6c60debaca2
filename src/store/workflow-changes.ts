/** Reads the changes of workflows from the audit log, see `WorkflowChangeReader`. */
import { type Kysely, sql, type SqlBool } from "kysely";
import type { AuditDetails } from "../core/account-ports.ts";
import { CHANGE_FIELD, changeIn } from "../core/workflow-change-details.ts";
import type {
  KeyActivity,
  KeyIdentity,
  WorkflowChangeEntry,
  WorkflowChangeReader,
} from "../core/workflow-change-ports.ts";
import { auditRanges } from "./audit-ranges.ts";
import { hasJsonValue } from "./dialect.ts";
import type { Schema } from "./schema.ts";

/** Operations that can't be reverted; they are counted. */
const COUNTED = ["run_workflow", "retry_run", "cancel_run", "decide_approval", "set_workflow_state"];
/** Operations that change workflows, in entries of older releases, which have no details. */
const EARLIER_CHANGES = [
  "allow_exposure",
  "apply_workflows",
  "archive_workflow",
  "create_samples",
  "create_workflow",
  "import",
  "pause_schedule",
  "publish_workflow",
  "publish_workflow.exposed",
  "restore_workflow",
  "resume_schedule",
  "unpublish_workflow",
  "update_workflow",
  "withdraw_exposure",
];

/** Whether an entry is about a change of a workflow. Entries of other subjects can have details too. */
const isChange = sql<SqlBool>`(
  case when details is null
    then lineage is null and operation in (${sql.join(EARLIER_CHANGES)})
    else ${hasJsonValue(sql.ref("details"), CHANGE_FIELD)}
  end
)`;

const isBy = ({ lineage, owner, name }: KeyIdentity) =>
  sql<SqlBool>`(lineage = ${lineage} or (lineage is null and owner = ${owner} and key_name = ${name}))`;

const columns = [
  "id",
  "at",
  "operation",
  "target as workflowId",
  "owner",
  "key_name as keyName",
  "lineage",
  "surface",
  "client",
  "details",
] as const;

export function workflowChangeReader(db: Kysely<Schema>): WorkflowChangeReader {
  const changes = () => db.selectFrom("audit_log").where(isChange).where("target", "is not", null);

  return {
    async ofKey(key, since) {
      const changed = new Map<string, KeyActivity["changed"][number]>();
      const counts: KeyActivity["counts"] = [];
      let [from, to, isReached] = [0, 0, false];
      for await (const range of auditRanges(db, null)) {
        if (to === 0) to = range.to;
        from = range.from;
        const inRange = () =>
          db.selectFrom("audit_log").where("id", ">=", range.from).where("id", "<=", range.to);
        const byKey = () => inRange().where("at", ">=", since).where(isBy(key));
        const rows = await byKey()
          .select(["target", "client"])
          .where(isChange)
          .where("target", "is not", null)
          .orderBy("id", "desc")
          .execute();
        for (const { target, client } of rows) {
          const pair = JSON.stringify([target, client]);
          if (!changed.has(pair)) changed.set(pair, { workflowId: target!, client });
        }
        const counted = await byKey()
          .select((eb) => ["operation", "client", "project", eb.fn.countAll<number>().as("count")])
          .where("operation", "in", COUNTED)
          .groupBy(["operation", "client", "project"])
          .execute();
        counts.push(...counted);
        const { newest } = await inRange()
          .select((eb) => eb.fn.max("at").as("newest"))
          .executeTakeFirstOrThrow();
        isReached = newest !== null && newest < since;
        if (isReached) break;
      }
      const recordsSince = isReached ? null : await oldestTime(db, from, since);
      return { changed: [...changed.values()], counts, from, to, recordsSince };
    },

    async ofWorkflows(ids, { from, to }) {
      const found: WorkflowChangeEntry[] = [];
      for await (const range of auditRanges(db, to + 1)) {
        if (range.to < from) break;
        const rows = await changes()
          .select(columns)
          .where("id", ">=", Math.max(range.from, from))
          .where("id", "<=", range.to)
          .orderBy("id", "desc")
          .execute();
        for (const { workflowId, details, ...row } of rows) {
          if (workflowId === null || !ids.has(workflowId)) continue;
          const parsed = details === null ? null : (JSON.parse(details) as AuditDetails);
          found.push({ ...row, ...changeIn(parsed), workflowId });
        }
      }
      return found.toReversed();
    },

    async hasChangedAfter(workflowId, entry) {
      const row = await changes()
        .select("id")
        .where("id", ">", entry)
        .where("target", "=", workflowId)
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

/** The time of the oldest entry that was read, when older ones within the window were purged or not read; else null. */
async function oldestTime(db: Kysely<Schema>, from: number, since: string): Promise<string | null> {
  if (from <= 1) return null;
  const row = await db
    .selectFrom("audit_log")
    .select("at")
    .where("id", ">=", from)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return row === undefined || row.at < since ? null : row.at;
}
