/** Marks that differ after each change of a run, a workflow or an approval. They cost one query for many of them. */
import type { Kysely } from "kysely";
import type { ReadChangeMarks, WatchedKind } from "../core/mcp-subscription-port.ts";
import { isOneOf } from "./dialect.ts";
import type { Schema } from "./schema.ts";

type Row = Readonly<{ id: string }>;

const ROWS: Record<WatchedKind, (db: Kysely<Schema>, ids: string) => Promise<Row[]>> = {
  run: (db, ids) =>
    db
      .selectFrom("runs")
      .select(["id", "seq"])
      .where((eb) => isOneOf(eb.ref("id"), ids))
      .execute(),
  workflow: (db, ids) =>
    db
      .selectFrom("workflows")
      .select(["id", "version", "status", "published_version", "updated_at", "project"])
      .where((eb) => isOneOf(eb.ref("id"), ids))
      .execute(),
  approval: (db, ids) =>
    db
      .selectFrom("approvals")
      .select((eb) => [
        "id",
        "status",
        "decided_at",
        "plan",
        eb
          .selectFrom("approval_decisions")
          .select((of) => of.fn.countAll().as("count"))
          .whereRef("approval_id", "=", "approvals.id")
          .as("decisions"),
        eb
          .selectFrom("approval_events")
          .select((of) => of.fn.countAll().as("count"))
          .whereRef("approval_id", "=", "approvals.id")
          .as("events"),
      ])
      .where((eb) => isOneOf(eb.ref("id"), ids))
      .execute(),
};

export const changeMarkReader =
  (read: Kysely<Schema>): ReadChangeMarks =>
  async (kind, ids) => {
    if (ids.length === 0) return new Map();
    const rows = await ROWS[kind](read, JSON.stringify(ids));
    return new Map(rows.map(({ id, ...rest }) => [id, JSON.stringify(Object.values(rest))]));
  };
