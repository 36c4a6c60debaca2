/** Who wrote and published versions of workflows. */
import type { Kysely } from "kysely";
import type { PassedBacktest } from "../../schemas/backtest-rule.ts";
import {
  type Authorship,
  type Contributor,
  isContributor,
  type Publications,
  type Published,
} from "../core/authorship.ts";
import { type Clock, iso } from "../core/clock.ts";
import type { Principal } from "../core/ports.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { jsonText, parseJson } from "./json-column.ts";
import { prepared, preparedInsert } from "./prepared.ts";
import type { Schema } from "./schema.ts";

const authorsUpTo = prepared((db, id: string, version: number) =>
  db
    .selectFrom("workflow_versions")
    .select((eb) => [
      "created_by as owner",
      "key_name as keyName",
      "subject",
      eb.fn.max<number>("version").as("version"),
    ])
    .where("workflow_id", "=", id)
    .where("version", "<=", version)
    .where("change", "in", ["created", "updated"])
    .groupBy(["created_by", "key_name", "subject"]),
);
const publicationsUpTo = prepared((db, id: string, version: number) =>
  db
    .selectFrom("workflow_publications")
    .select((eb) => [
      "owner",
      "key_name as keyName",
      "subject",
      "lineage",
      "version",
      eb.fn.max<number>("id").as("order"),
    ])
    .where("workflow_id", "=", id)
    .where("version", "<=", version)
    .groupBy(["owner", "key_name", "subject", "lineage", "version"])
    .orderBy("order"),
);
const lastPublisher = prepared((db, id: string, version: number) =>
  db
    .selectFrom("workflow_publications")
    .select(["owner", "key_name as keyName", "subject"])
    .where("workflow_id", "=", id)
    .where("version", "=", version)
    .orderBy("id", "desc")
    .limit(1),
);
const insertPublication = preparedInsert("workflow_publications");

export const readAuthorship = async (
  db: Kysely<Schema>,
  id: string,
  version: number,
): Promise<Authorship> => ({
  authors: await authorsUpTo(db, id, version),
  reviews: await publicationsUpTo(db, id, version),
});

export async function readPublications(db: Kysely<Schema>, id: string): Promise<Publications> {
  const rows = await db
    .selectFrom("workflow_publications")
    .select("version")
    .distinct()
    .where("workflow_id", "=", id)
    .execute();
  const workflow = await db
    .selectFrom("workflows")
    .select("last_published")
    .where("id", "=", id)
    .executeTakeFirst();
  const last = workflow?.last_published ?? null;
  const versions = new Set(rows.map(({ version }) => version));
  return { versions: last === null ? versions : versions.add(last), last };
}

/** The backtests that versions of a workflow passed when they were last published, where one was needed. */
export async function passedBacktests(
  db: Kysely<Schema>,
  id: string,
  versions: readonly number[],
): Promise<Map<number, PassedBacktest>> {
  if (versions.length === 0) return new Map();
  const rows = await db
    .selectFrom("workflow_publications")
    .select(["version", "backtest"])
    .where("workflow_id", "=", id)
    .where("version", "in", versions)
    .where("backtest", "is not", null)
    .orderBy("id")
    .execute();
  return new Map(rows.map(({ version, backtest }) => [version, parseJson<PassedBacktest>(backtest)!]));
}

/** Records who published a version. @returns false when the same person was the last to publish it */
export async function addPublication(
  trx: Kysely<Schema>,
  clock: Clock,
  { id, version, backtest = null }: Published,
  principal: Principal,
): Promise<boolean> {
  const [last]: (Contributor | undefined)[] = await lastPublisher(trx, id, version);
  if (last !== undefined && isContributor(principal, last)) return false;
  await insertPublication(trx, {
    workflow_id: id,
    version,
    at: iso(clock.now()),
    owner: principal.owner,
    key_name: principal.keyName,
    lineage: principal.lineage,
    subject: usageSubjectOf(principal),
    backtest: jsonText(backtest),
  });
  return true;
}
