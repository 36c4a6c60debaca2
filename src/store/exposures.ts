/** Reads the requests of workflows to be tools of their own. */
import { type Kysely, sql } from "kysely";
import type { ExposureRequest } from "../core/workflow-ports.ts";
import { decodeDefinition } from "./run-values.ts";
import type { Schema } from "./schema.ts";

/** The requests of all published workflows that ask for it. */
export const exposures = (db: Kysely<Schema>) =>
  db
    .selectFrom("workflows")
    .innerJoin("workflow_versions", (join) =>
      join
        .onRef("workflow_versions.workflow_id", "=", "workflows.id")
        .onRef("workflow_versions.version", "=", "workflows.published_version"),
    )
    .leftJoin("exposure_consents", "exposure_consents.workflow_id", "workflows.id")
    .select([
      "workflows.id",
      "workflows.project",
      "workflow_versions.version",
      "workflow_versions.name",
      "workflow_versions.description",
      "workflow_versions.definition",
      "workflow_versions.created_by as author",
      "exposure_consents.digest",
      "exposure_consents.version as consented",
      "exposure_consents.allowed_by",
      "exposure_consents.allowed_at",
    ])
    .where("workflows.exposed", "=", sql.lit(1))
    .where("workflows.status", "!=", "archived");

export async function toExposure(
  db: Kysely<Schema>,
  {
    digest,
    consented,
    allowed_by: allowedBy,
    allowed_at: allowedAt,
    definition,
    ...row
  }: Awaited<ReturnType<ReturnType<typeof exposures>["execute"]>>[number],
): Promise<ExposureRequest> {
  const isAllowed = consented !== null && allowedBy !== null && allowedAt !== null;
  return {
    ...row,
    definition: (await decodeDefinition(db, definition)) ?? {},
    consent: isAllowed ? { digest, version: consented, allowedBy, allowedAt } : null,
  };
}
