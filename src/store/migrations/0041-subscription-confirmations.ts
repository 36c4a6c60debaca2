import type { Kysely } from "kysely";

/** The columns of this migration and before. */
interface Tables {
  subscriptions: {
    id: string;
    created_at: string;
    created_by: string;
    confirmed_by: string | null;
    confirmed_lineage: string | null;
    confirmed_at: string | null;
  };
  audit_log: {
    id: number;
    at: string;
    operation: string;
    target: string | null;
    owner: string;
    lineage: string | null;
    details: string | null;
  };
}

/** Names in the details of an update that say where deliveries go, and whether they hold values. */
const OF_VALUES: ReadonlySet<string> = new Set(["url", "urlSecret", "includeValues"]);

/** Who last set where a subscription delivers to, or that it delivers values. For earlier ones the audit log says it. */
export async function up(untyped: Kysely<never>): Promise<void> {
  for (const column of ["confirmed_by", "confirmed_lineage", "confirmed_at"])
    await untyped.schema.alterTable("subscriptions").addColumn(column, "text").execute();
  const db = untyped as unknown as Kysely<Tables>;
  const subscriptions = await db
    .selectFrom("subscriptions")
    .select(["id", "created_at", "created_by"])
    .execute();
  if (subscriptions.length === 0) return;
  const entries = await db
    .selectFrom("audit_log")
    .select(["target", "at", "operation", "owner", "lineage", "details"])
    .where("operation", "in", ["create_subscription", "update_subscription"])
    .orderBy("id")
    .execute();
  const lasts = new Map(
    entries
      .filter((entry) => entry.operation === "create_subscription" || hasSetValues(entry))
      .map((entry) => [entry.target, entry]),
  );
  for (const { id, created_at: createdAt, created_by: createdBy } of subscriptions) {
    const last = lasts.get(id);
    await db
      .updateTable("subscriptions")
      .set({
        confirmed_by: last?.owner ?? createdBy,
        // Sessions of people have the id of their user there.
        confirmed_lineage: last?.lineage?.startsWith("key_") === true ? last.lineage : null,
        confirmed_at: last?.at ?? createdAt,
      })
      .where("id", "=", id)
      .execute();
  }
}

function hasSetValues({ details }: Pick<Tables["audit_log"], "details">): boolean {
  const changed = details === null ? null : (JSON.parse(details) as { changed?: unknown }).changed;
  return Array.isArray(changed) && changed.some((field) => OF_VALUES.has(String(field)));
}
