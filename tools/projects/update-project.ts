import { z } from "zod";
import { BacktestRule, SHORT_BACKTEST_RULE } from "../../schemas/backtest-rule.ts";
import {
  HttpPublic,
  ProjectConnections,
  ProjectDescription,
  ProjectIdRef,
  ProjectLimits,
  ProjectName,
  UpdatedProject,
} from "../../schemas/project.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import type { Issue } from "../../schemas/problem.ts";
import { isInstanceAdmin } from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { ProjectRecord } from "../../src/core/project-ports.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { isLooser } from "../backtests/backtest-rule.ts";
import { findAdministered } from "./find-project.ts";
import { mergeLimits } from "./merge-limits.ts";
import { serializeProject } from "./serialize-project.ts";

/** What only admins of the instance change, because it says what the project may use of it. */
const OF_THE_INSTANCE = ["connections", "http_public", "limits"] as const;

export const updateProject = defineTool({
  name: "update_project",
  title: "Update a project",
  description:
    "Changes a project; what is left out stays. Only admins of the instance change connections, http_public and limits.",
  route: "PATCH /projects/:project",
  mcpList: "admin",
  scope: "admin",
  effect: "update",
  errors: ["project_not_found", "upgrade_unfinished"],
  input: z.strictObject({
    project: ProjectIdRef,
    name: ProjectName.optional(),
    description: ProjectDescription.optional(),
    connections: ProjectConnections.optional(),
    http_public: HttpPublic.nullable().optional(),
    review: z.boolean().optional().meta({
      description: "Whether publishing needs the review of another person.",
      example: true,
    }),
    backtest: BacktestRule.nullable().optional().register(shortSchemas, SHORT_BACKTEST_RULE),
    limits: ProjectLimits.optional(),
  }),
  output: UpdatedProject,
  run: ({ project: id, ...input }, ctx) =>
    ctx.write(async (tx) => {
      const before = await findAdministered(ctx, tx.projects, id);
      assertInstanceFields(ctx, before, input);
      if (before.review && input.review === false) assertPerson(ctx, "turn reviews off");
      if (
        input.backtest !== undefined &&
        before.backtest !== null &&
        isLooser(input.backtest, before.backtest)
      )
        assertPerson(ctx, "loosen or remove the rule of backtests");
      const { name, description, connections, http_public: httpPublic, review, backtest, limits } = input;
      const change = {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(connections !== undefined && { connections }),
        ...(httpPublic !== undefined && { httpPublic }),
        ...(review !== undefined && { review }),
        ...(backtest !== undefined && { backtest }),
        ...(limits !== undefined && { limits: mergeLimits(before.limits, limits) }),
      };
      const after: ProjectRecord = { ...before, ...change };
      if (JSON.stringify(after) === JSON.stringify(before)) return serializeProject(ctx, before);
      if (isUnknownToOlderReleases(after)) await tx.projects.assertNoOlderCopies();
      await tx.projects.update(before.id, change);
      await tx.recordAudit(before.id, undefined, {
        project: before.id,
        details: { changed: Object.keys(change) },
      });
      const warnings = review === true && !before.review ? await draftWarnings(tx, before.id) : [];
      return { ...serializeProject(ctx, after), ...(warnings.length > 0 && { warnings }) };
    }),
});

/** Maximum number of callers of drafts that an answer names. */
const MAX_CALLERS = 100;

/** Runs of published workflows that call a draft fail from now on: nobody has reviewed it. */
async function draftWarnings({ workflows }: Pick<Writers, "workflows">, project: string): Promise<Issue[]> {
  const found = await workflows.liveCallersOfDrafts(project, MAX_CALLERS);
  return found.map(({ draft, caller }) => ({
    path: "review",
    code: "calls_draft",
    message: `affects "${caller}": it runs "${draft}", which is a draft, and with review runs of published workflows can't call drafts`,
    fix: `Publish "${draft}" (it needs a review now), or turn review off until it is published.`,
  }));
}

/** Whether an older release, which does not know what a project may do, would let it do more. */
const isUnknownToOlderReleases = ({
  connections,
  httpPublic,
  review,
  backtest,
  limits,
}: ProjectRecord): boolean =>
  connections !== "all" || httpPublic !== null || review || backtest !== null || limits !== null;

/** A key that could end what publishing needs could publish without it. @throws AppError person_needed */
function assertPerson({ actor }: Pick<ToolContext, "actor">, action: string): void {
  if (actor.principal.kind !== "key") return;
  throw new AppError(
    "person_needed",
    `Only a signed-in person can ${action}, not an API key. Nothing was changed. Use the web interface (/ui/).`,
  );
}

/** @throws AppError missing_scope */
function assertInstanceFields(
  { actor }: Pick<ToolContext, "actor">,
  { id }: ProjectRecord,
  input: Readonly<Record<string, unknown>>,
): void {
  if (isInstanceAdmin(actor.principal.access)) return;
  const refused = OF_THE_INSTANCE.filter((field) => input[field] !== undefined);
  if (refused.length === 0) return;
  throw new AppError(
    "missing_scope",
    `Only admins of the instance can change ${refused.join(", ")} of the project "${id}". Nothing was changed.`,
    {
      errors: refused.map((path) => ({
        path,
        code: "missing_scope",
        message: "can be changed by admins of the instance only",
      })),
    },
  );
}
