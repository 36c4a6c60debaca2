import type { Issue } from "../../schemas/problem.ts";
import { projectOf } from "../../schemas/project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { checkDefinition } from "../workflows/check-definition.ts";

/** The issues of written outputs that the steps can't have, with paths below `given`. Recorded ones fit. */
export async function unfitOutputs(
  ctx: ToolContext,
  workflow: Pick<WorkflowWithDefinition, "id" | "project">,
  definition: Record<string, unknown>,
  given: Record<string, unknown>,
): Promise<Issue[]> {
  if (Object.keys(given).length === 0) return [];
  const options = { checkConnections: true, project: projectOf(workflow), selfId: workflow.id, given };
  const { errors } = await checkDefinition(ctx, definition, options);
  return errors.filter(({ path }) => path.startsWith("given."));
}
