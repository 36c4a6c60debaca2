/** The history of the state of workflows: what has changed which values, and why. */
import type { Kysely } from "kysely";
import type { StateChangeRecord, StateValueChange } from "../core/workflow-state-ports.ts";
import type { Schema } from "./schema.ts";
import { addStoredBytes, type StoredPart } from "./stored-bytes.ts";

/** Number of changes of a workflow that are kept: the newest ones. */
const MAX_CHANGES = 200;
/** The bytes of the changes of a workflow that are kept. */
const MAX_HISTORY_BYTES = 1024 * 1024;
/** After how many revisions older changes are deleted, so that most writes need not look for them. */
const TRIM_EVERY = 16;
/** Maximum length of a value in the history, in characters of JSON: of a longer one the beginning is kept. */
const MAX_VALUE_CHARS = 2_000;
/** The same, where many keys change at once. */
const MAX_MANY_CHARS = 100;
/** Maximum number of keys of a change. */
const MAX_KEYS = 100;

export type NewStateChange = Omit<StateChangeRecord, "changes"> & {
  workflowId: string;
  project: string;
  /** For whose stored bytes it counts (usage-limits.ts). */
  subject: string;
  before: Readonly<Record<string, unknown>>;
  after: Readonly<Record<string, unknown>>;
};

/** Adds a change to the history, if a value has changed, and deletes what is too old. The row of the state is locked. */
export async function addStateChange(trx: Kysely<Schema>, change: NewStateChange): Promise<void> {
  const { workflowId, project, subject, before, after, ...fields } = change;
  const parts: StoredPart[] = [];
  const changes = changedValues(before, after);
  if (changes.length > 0) {
    const text = JSON.stringify(changes);
    const bytes = Buffer.byteLength(text) + Buffer.byteLength(fields.reason ?? "");
    await trx
      .insertInto("state_changes")
      .values({
        workflow_id: workflowId,
        revision: fields.revision,
        kind: fields.kind,
        at: fields.at,
        by: fields.by,
        key_name: fields.keyName,
        reason: fields.reason,
        changes: text,
        subject,
        stored_bytes: bytes,
      })
      .execute();
    parts.push({ subject, project, bytes });
  }
  if (fields.revision % TRIM_EVERY === 0)
    for (const deleted of await trim(trx, workflowId)) parts.push({ ...deleted, project });
  await addStoredBytes(trx, parts);
}

/** The keys whose values differ. */
function changedValues(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): StateValueChange[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  const texts = keys.flatMap((key) => {
    const [from, to] = [JSON.stringify(before[key]), JSON.stringify(after[key])];
    return from === to ? [] : [{ key, from, to }];
  });
  const maxChars = texts.length > 10 ? MAX_MANY_CHARS : MAX_VALUE_CHARS;
  const changeOf = ({ key, from, to }: (typeof texts)[number]): StateValueChange => ({
    key,
    ...(from !== undefined && { before: shortened(from, maxChars) }),
    ...(to !== undefined && { after: shortened(to, maxChars) }),
  });
  return texts.slice(0, MAX_KEYS).map(changeOf);
}

const shortened = (json: string, maxChars: number): unknown =>
  json.length <= maxChars
    ? JSON.parse(json)
    : { truncated: true, chars: json.length, preview: json.slice(0, maxChars) };

/** Deletes all but the newest changes. @returns what was deleted */
async function trim(trx: Kysely<Schema>, workflowId: string): Promise<{ subject: string; bytes: number }[]> {
  const rows = await trx
    .selectFrom("state_changes")
    .select(["revision", "stored_bytes"])
    .where("workflow_id", "=", workflowId)
    .orderBy("revision", "desc")
    .execute();
  let total = 0;
  const oldest = rows.find((row, index) => {
    total += row.stored_bytes;
    return index >= MAX_CHANGES || (index > 0 && total > MAX_HISTORY_BYTES);
  });
  if (oldest === undefined) return [];
  const deleted = await trx
    .deleteFrom("state_changes")
    .where("workflow_id", "=", workflowId)
    .where("revision", "<=", oldest.revision)
    .returning(["subject", "stored_bytes"])
    .execute();
  return deleted.map(({ subject, stored_bytes: bytes }) => ({ subject, bytes: -bytes }));
}

/** A part of the history, newest first. @param before only changes before this revision; null for the newest */
export async function stateChanges(
  db: Kysely<Schema>,
  { workflowId, before, limit }: { workflowId: string; before: number | null; limit: number },
): Promise<StateChangeRecord[]> {
  let query = db
    .selectFrom("state_changes")
    .selectAll()
    .where("workflow_id", "=", workflowId)
    .orderBy("revision", "desc")
    .limit(limit);
  if (before !== null) query = query.where("revision", "<", before);
  const rows = await query.execute();
  return rows.map((row) => ({
    revision: row.revision,
    kind: row.kind,
    at: row.at,
    by: row.by,
    keyName: row.key_name,
    reason: row.reason,
    changes: JSON.parse(row.changes) as StateValueChange[],
  }));
}
