/** Reads the changes of workflows and subscriptions from the audit log, see `WorkflowChangeReader`. */
import { type Kysely, sql, type SqlBool } from "kysely";
import type { AuditDetails } from "../core/account-ports.ts";
import { subscriptionChangeIn } from "../core/subscription-change-details.ts";
import { CHANGE_FIELD, changeIn } from "../core/workflow-change-details.ts";
import {
  type EntryRange,
  type KeyActivity,
  type KeyIdentity,
  MAX_TARGETS,
  type OperationCount,
  type SubscriptionChangeEntry,
  type WorkflowChangeEntry,
  type WorkflowChangeReader,
} from "../core/workflow-change-ports.ts";
import { auditRanges } from "./audit-ranges.ts";
import { hasJsonValue } from "./dialect.ts";
import type { Schema } from "./schema.ts";
import { stateCommitsOf } from "./state-commits.ts";

/** How the ids of subscriptions begin; those of workflows have no underscore. */
const SUBSCRIPTION = "sub_";
/** Operations that change subscriptions, also in entries of older releases, which do not say from what to what. */
const SUBSCRIPTION_CHANGES = [
  "create_subscription",
  "delete_subscription",
  "rotate_subscription_secret",
  "update_subscription",
];
/** It is recorded with the workflow and the trigger, and with no URL. */
const ROTATION = "rotate_trigger";
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

/** Whether an entry is about a change of a workflow or a subscription. Entries of other subjects can have details too. */
const isChange = sql<SqlBool>`(
  case when details is null
    then lineage is null and operation in (${sql.join(EARLIER_CHANGES)})
    else operation in (${sql.join(SUBSCRIPTION_CHANGES)}) or ${hasJsonValue(sql.ref("details"), CHANGE_FIELD)}
  end
)`;

const isBy = ({ lineage, owner, name }: KeyIdentity) =>
  sql<SqlBool>`(lineage = ${lineage} or (lineage is null and owner = ${owner} and key_name = ${name}))`;

const columns = [
  "id",
  "at",
  "operation",
  "target",
  "project",
  "owner",
  "key_name as keyName",
  "lineage",
  "surface",
  "client",
  "details",
] as const;

export function workflowChangeReader(db: Kysely<Schema>): WorkflowChangeReader {
  const changes = () => db.selectFrom("audit_log").where(isChange).where("target", "is not", null);

  /** The changes of what has one of the ids, oldest first. */
  async function changesOf(ids: ReadonlySet<string>, { from, to }: EntryRange) {
    const read = async (range: EntryRange) =>
      changes()
        .select(columns)
        .where("id", ">=", Math.max(range.from, from))
        .where("id", "<=", range.to)
        .orderBy("id", "desc")
        .execute();
    const found: Awaited<ReturnType<typeof read>> = [];
    if (ids.size === 0) return found;
    for await (const range of auditRanges(db, to + 1)) {
      if (range.to < from) break;
      for (const row of await read(range)) if (row.target !== null && ids.has(row.target)) found.push(row);
    }
    return found.toReversed();
  }

  return {
    async ofKey(key, since) {
      const found: Pick<KeyActivity, "changed" | "subscriptions" | "rotations"> = {
        changed: [],
        subscriptions: [],
        rotations: [],
      };
      const operations = new Map<string, OperationCount>();
      let [from, to, isReached] = [0, 0, false];
      for await (const range of auditRanges(db, null)) {
        if (to === 0) to = range.to;
        from = range.from;
        await addRange(db, { key, since, range }, found, operations);
        const { newest } = await db
          .selectFrom("audit_log")
          .select((eb) => eb.fn.max("at").as("newest"))
          .where("id", ">=", range.from)
          .where("id", "<=", range.to)
          .executeTakeFirstOrThrow();
        isReached = newest !== null && newest < since;
        if (isReached) break;
      }
      const recordsSince = isReached ? null : await oldestTime(db, from, since);
      const all = [...operations.values(), ...(await stateCommitsOf(db, key.lineage, since))];
      return { ...found, operations: all, unseen: [], from, to, recordsSince };
    },

    async ofWorkflows(ids, range) {
      const found: WorkflowChangeEntry[] = [];
      for (const { target, details, ...row } of await changesOf(ids, range))
        found.push({ ...row, ...changeIn(detailsOf(details)), workflowId: target! });
      return found;
    },

    async ofSubscriptions(ids, range) {
      const found: SubscriptionChangeEntry[] = [];
      for (const { target, details, ...row } of await changesOf(ids, range))
        found.push({ ...row, ...subscriptionChangeIn(detailsOf(details)), subscriptionId: target! });
      return found;
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

const detailsOf = (column: string | null): AuditDetails | null =>
  column === null ? null : (JSON.parse(column) as AuditDetails);

/** Adds what a key did in a range of entries, which are older than those before. */
async function addRange(
  db: Kysely<Schema>,
  { key, since, range }: { key: KeyIdentity; since: string; range: EntryRange },
  found: Pick<KeyActivity, "changed" | "subscriptions" | "rotations">,
  operations: Map<string, OperationCount>,
): Promise<void> {
  const byKey = () =>
    db
      .selectFrom("audit_log")
      .where("id", ">=", range.from)
      .where("id", "<=", range.to)
      .where("at", ">=", since)
      .where(isBy(key));
  const changed = await byKey()
    .select((eb) => ["target", "project", "client", eb.fn.countAll<number | string>().as("count")])
    .where(isChange)
    .where("target", "is not", null)
    .groupBy(["target", "project", "client"])
    .orderBy((eb) => eb.fn.max("id"), "desc")
    .execute();
  for (const { target, project, client, count } of changed) {
    const id = target!;
    const times = Number(count);
    if (id.startsWith(SUBSCRIPTION))
      found.subscriptions.push({ subscriptionId: id, project, client, count: times });
    else found.changed.push({ workflowId: id, client, count: times });
  }
  const others = () => byKey().where(sql<SqlBool>`not ${isChange}`);
  const rotated = await others()
    .select(["target", "client", "at", "details"])
    .where("operation", "=", ROTATION)
    .where("target", "is not", null)
    .orderBy("id", "desc")
    .execute();
  for (const { target, client, at, details } of rotated) {
    const { trigger = "", trigger_id: triggerId = null } = detailsOf(details) ?? {};
    found.rotations.push({
      workflowId: target!,
      trigger: String(trigger),
      triggerId: triggerId === null ? null : String(triggerId),
      client,
      at,
    });
  }
  const counted = await others()
    .select((eb) => [
      "operation",
      "project",
      "client",
      eb.fn.countAll<number | string>().as("count"),
      eb.fn.min("at").as("firstAt"),
      eb.fn.max("at").as("lastAt"),
    ])
    .where("operation", "!=", ROTATION)
    .groupBy(["operation", "project", "client"])
    .execute();
  for (const { operation, project, client, count, firstAt, lastAt } of counted) {
    const group = JSON.stringify([operation, project, client]);
    const known = operations.get(group) ?? {
      operation,
      project,
      client,
      count: 0,
      firstAt,
      lastAt,
      targets: [],
    };
    const targets =
      known.targets.length >= MAX_TARGETS
        ? []
        : await others()
            .select("target")
            .where("operation", "=", operation)
            .where("project", "=", project)
            .where("client", "=", client)
            .where("target", "is not", null)
            .groupBy("target")
            .orderBy((eb) => eb.fn.max("id"), "desc")
            .limit(MAX_TARGETS)
            .execute();
    operations.set(group, {
      ...known,
      count: known.count + Number(count),
      firstAt,
      targets: [...new Set([...known.targets, ...targets.map(({ target }) => target!)])].slice(
        0,
        MAX_TARGETS,
      ),
    });
  }
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
