/** Who wrote and published versions of workflows. */
import type { Kysely } from "kysely";
import { type Authorship, type Contributor, isContributor } from "../core/authorship.ts";
import { type Clock, iso } from "../core/clock.ts";
import type { Principal } from "../core/principal.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
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
const lastPublication = prepared((db, id: string, version: number) =>
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

/** Records who published a version. @returns false when the same person was the last to publish it */
export async function addPublication(
  trx: Kysely<Schema>,
  clock: Clock,
  { id, version }: { id: string; version: number },
  principal: Principal,
): Promise<boolean> {
  const [last]: (Contributor | undefined)[] = await lastPublication(trx, id, version);
  if (last !== undefined && isContributor(principal, last)) return false;
  await insertPublication(trx, {
    workflow_id: id,
    version,
    at: iso(clock.now()),
    owner: principal.owner,
    key_name: principal.keyName,
    lineage: principal.lineage,
    subject: usageSubjectOf(principal),
  });
  return true;
}
