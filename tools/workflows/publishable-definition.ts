/** The definition of a version that is about to be published. */
import { projectOf } from "../../schemas/project.ts";
import type { Issue } from "../../schemas/problem.ts";
import type { Workflow } from "../../schemas/workflow.ts";
import type { CheckReport } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { checkDefinition } from "./check-definition.ts";

/** Findings that a draft may have, which is run by callers who are known. */
const REFUSED: ReadonlySet<string> = new Set(["unsigned_approval"]);

/** What keeps a version from being published. */
export const publicationIssues = ({
  errors,
  warnings,
}: Pick<CheckReport, "errors" | "warnings">): Issue[] => [
  ...errors,
  ...warnings.filter(({ code }) => REFUSED.has(code)),
];

/** Finds the definition of a version and checks it. @throws AppError version_not_found, workflow_not_runnable */
export async function findPublishableDefinition(
  ctx: ToolContext,
  workflow: Pick<Workflow, "id" | "project" | "version">,
  version: number,
): Promise<Record<string, unknown>> {
  const { id, version: newest } = workflow;
  if (version > newest) {
    throw new AppError("version_not_found", `"${id}" has no version ${version}; its newest is ${newest}.`);
  }
  const definition = await ctx.read.runs.versionDefinition(id, version);
  if (definition === null) {
    throw new AppError(
      "workflow_not_runnable",
      version === newest
        ? `Version ${version} of "${id}" has no definition yet, so there is nothing to publish. ` +
            `Add one with update_workflow (PATCH /workflows/${id}).`
        : `Version ${version} of "${id}" has no definition: the operator has pruned it, or it never had one. ` +
            "Publish another version.",
    );
  }
  const report = await checkDefinition(ctx, definition, {
    checkConnections: true,
    project: projectOf(workflow),
    selfId: id,
  });
  const errors = publicationIssues(report);
  if (errors.length === 0) return definition;
  throw new AppError(
    "workflow_not_runnable",
    `Version ${version} of "${id}" has ${errors.length} issue${errors.length === 1 ? "" : "s"} and was not published: ` +
      `${errors[0]!.path || "the definition"} ${errors[0]!.message}. Fix the definition with update_workflow, then publish again.`,
    { errors },
  );
}
