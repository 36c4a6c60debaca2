/** Migrations forward, under the write lock, so that of several processes that start at once one migrates. */
import type { Kysely, Transaction } from "kysely";
import { AppError } from "../core/errors.ts";
import { type Clock, iso } from "../core/clock.ts";
import * as workflowsAndKeys from "./migrations/0001-workflows-and-keys.ts";
import * as accounts from "./migrations/0003-accounts.ts";
import * as modelUsage from "./migrations/0004-model-usage.ts";
import * as runs from "./migrations/0002-runs.ts";
import type { Schema } from "./schema.ts";

interface Migration {
  id: number;
  name: string;
  /** The oldest release's newest migration that still runs on this schema: expand first, contract a release later. */
  requires: number;
  up(db: Kysely<never>): Promise<void>;
}

const MIGRATIONS: readonly Migration[] = [
  { id: 1, name: "workflows-and-keys", requires: 1, up: workflowsAndKeys.up },
  { id: 2, name: "runs", requires: 1, up: runs.up },
  { id: 3, name: "accounts", requires: 1, up: accounts.up },
  { id: 4, name: "model-usage", requires: 1, up: modelUsage.up },
];
const NEWEST = MIGRATIONS.at(-1)!.id;

/**
 * Brings the schema to the newest state.
 * @param begin runs its argument in one write transaction
 * @throws AppError storage_unavailable when a newer release has changed the database beyond what this one can use
 */
export async function migrate(
  read: Kysely<Schema>,
  begin: <T>(work: (trx: Transaction<Schema>) => Promise<T>) => Promise<T>,
  clock: Clock,
): Promise<void> {
  if (await isCurrent(read)) return;
  await begin(async (trx) => {
    await trx.schema
      .createTable("migrations")
      .ifNotExists()
      .addColumn("id", "integer", (c) => c.primaryKey())
      .addColumn("name", "text", (c) => c.notNull())
      .addColumn("requires", "integer", (c) => c.notNull())
      .addColumn("applied_at", "text", (c) => c.notNull())
      .execute();
    const newest = await newestApplied(trx);
    for (const { id, name, requires, up } of MIGRATIONS.filter((it) => it.id > newest)) {
      await up(trx as unknown as Kysely<never>);
      await trx
        .insertInto("migrations")
        .values({ id, name, requires, applied_at: iso(clock.now()) })
        .execute();
    }
  });
}

async function isCurrent(read: Kysely<Schema>): Promise<boolean> {
  const known = await read.introspection.getTables();
  return known.some((table) => table.name === "migrations") && (await newestApplied(read)) >= NEWEST;
}

/**
 * The newest migration that the database has; 0 for none.
 * @throws AppError storage_unavailable when one of them needs a newer release
 */
async function newestApplied(db: Kysely<Schema>): Promise<number> {
  const { id, requires } = await db
    .selectFrom("migrations")
    .select((eb) => [
      eb.fn.coalesce(eb.fn.max("id"), eb.lit(0)).as("id"),
      eb.fn.coalesce(eb.fn.max("requires"), eb.lit(0)).as("requires"),
    ])
    .executeTakeFirstOrThrow();
  if (requires > NEWEST) {
    throw new AppError(
      "storage_unavailable",
      `The state directory was written by a newer release of Millrace (migration ${id}, this release knows ${NEWEST}). ` +
        "Start that release or a newer one.",
    );
  }
  return id;
}
