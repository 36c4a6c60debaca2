import { z } from "zod";
import { BacktestRule, SHORT_BACKTEST_RULE } from "../../schemas/backtest-rule.ts";
import {
  PROJECT_ID,
  Project,
  ProjectConnections,
  ProjectDescription,
  ProjectId,
  ProjectLimits,
  ProjectName,
  HttpPublic,
} from "../../schemas/project.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { IdempotencyKey } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { ProjectRecord } from "../../src/core/project-ports.ts";
import { slugOf } from "../../src/core/slug.ts";
import { defineTool } from "../../src/core/tool.ts";
import { mergeLimits } from "./merge-limits.ts";
import { serializeProject } from "./serialize-project.ts";

/** Maximum length of an id, in characters. */
const MAX_ID = 40;

export const createProject = defineTool({
  name: "create_project",
  title: "Create a project",
  description: "Creates a project. Add people with set_project_member, connections with add_grant.",
  route: "POST /projects",
  mcpList: "admin",
  scope: "admin",
  instance: true,
  effect: "create",
  errors: ["project_taken", "upgrade_unfinished", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    name: ProjectName,
    id: ProjectId.optional(),
    description: ProjectDescription.default(""),
    connections: ProjectConnections.default("granted"),
    http_public: HttpPublic.nullable().default(null),
    backtest: BacktestRule.nullable().default(null).register(shortSchemas, SHORT_BACKTEST_RULE),
    review: z.boolean().default(false).meta({
      description: "Whether publishing needs the review of another person.",
      example: false,
    }),
    limits: ProjectLimits.default({}),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Project,
  run: (
    { name, id: requestedId, description, connections, http_public: httpPublic, review, backtest, limits },
    ctx,
  ) => {
    const id = requestedId ?? projectSlug(name);
    return ctx.write(async (tx) => {
      await tx.projects.assertNoOlderCopies();
      const created: ProjectRecord = {
        id,
        name,
        description,
        connections,
        httpPublic,
        review,
        backtest,
        limits: mergeLimits(null, limits),
        createdAt: iso(ctx.now()),
        createdBy: ctx.actor.principal.owner,
      };
      if (!(await tx.projects.insertUnlessTaken(created)))
        throw new AppError(
          "project_taken",
          `There is a project "${id}" already. Nothing was changed. Choose another name, or set \`id\`.`,
        );
      await tx.recordAudit(id, undefined, { project: id });
      return serializeProject(ctx, created);
    });
  },
});

/** @throws AppError invalid_input for a name without a letter or digit to begin an id with */
function projectSlug(name: string): string {
  const slug = slugOf(name, MAX_ID);
  if (PROJECT_ID.test(slug)) return slug;
  throw invalidInput([
    {
      path: "id",
      code: "missing",
      message: "must be set, because no id can be made of this name",
      fix: "Set id to lower-case letters, digits and dashes.",
    },
  ]);
}
