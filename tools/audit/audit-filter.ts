/** The filters of the audit log, which lists and exports have in common. */
import { z } from "zod";
import { Surface } from "../../schemas/actor.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { TimestampInput } from "../../schemas/run.ts";
import { searchTerms } from "../../schemas/fold-text.ts";
import { MAX_WORDS, SearchWords, text } from "../../schemas/text.ts";
import type { AuditFilter } from "../../src/core/account-ports.ts";
import { iso } from "../../src/core/clock.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { projectFor } from "../projects/project-for.ts";

export const auditFilterFields = {
  search: SearchWords.optional().meta({
    description: `Words that the operation, target, owner, key name or client contains, ignoring case; at most ${MAX_WORDS}.`,
    example: "publish",
  }),
  project: ProjectFilter,
  owner: text(254, 1)
    .optional()
    .meta({ description: "Only entries of this owner.", example: "ann@example.com" }),
  operation: text(100, 1).optional().meta({
    description: "Only this operation, with any outcome; or one outcome, such as `update_user.role_admin`.",
    example: "publish_workflow",
  }),
  target: text(200, 1).optional().meta({
    description: "Only entries about this id; `secret:` and a name for the uses of a secret.",
    example: "weekly-revenue",
  }),
  surface: Surface.optional(),
  since: TimestampInput.optional().meta({
    description: "At or after this time or date.",
    example: "2026-11-21",
  }),
  until: TimestampInput.optional().meta({
    description: "Before this time or date.",
    example: "2026-11-22T08:00:00Z",
  }),
};

const Fields = z.strictObject(auditFilterFields);

/** @throws AppError project_not_found, missing_scope */
export async function toAuditFilter(
  ctx: Pick<ToolContext, "actor" | "read">,
  { search, since, until, ...exact }: z.output<typeof Fields>,
): Promise<AuditFilter> {
  if (exact.project !== undefined) await projectFor(ctx, "admin", exact.project);
  return {
    ...exact,
    searchTerms: search === undefined ? undefined : searchTerms(search),
    since: toIso(since),
    until: toIso(until),
  };
}

const toIso = (time: string | undefined): string | undefined =>
  time === undefined ? undefined : iso(Date.parse(time));
