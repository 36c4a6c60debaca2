/** The versions that runs use when they name none. */
import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

/** The published version of each workflow, or the newest if none is published. */
export async function currentVersions(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("workflows")
    .select(["id", "version", "published_version"])
    .where("id", "in", [...ids])
    .execute();
  return new Map(rows.map((row) => [row.id, row.published_version ?? row.version]));
}

/** The same without the drafts of projects with review. */
export async function liveVersions(db: Kysely<Schema>, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("workflows")
    .innerJoin("projects", "projects.id", "workflows.project")
    .select(["workflows.id", "workflows.version", "workflows.published_version", "projects.review"])
    .where("workflows.id", "in", [...ids])
    .execute();
  return new Map(
    rows.flatMap(({ id, version, published_version: published, review }) =>
      published === null && review === 1 ? [] : [[id, published ?? version]],
    ),
  );
}
