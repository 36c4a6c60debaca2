import { z } from "zod";
import { RunId } from "../../schemas/run.ts";
import { Version, WorkflowDefinition } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";

export const getRunDefinition = defineTool({
  name: "get_run_definition",
  title: "Get the definition of a run",
  description:
    "Gives the definition that a run follows, as it was written: its version's, or the changed one of a retry with a patch.",
  route: "GET /runs/:run_id/definition",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["run_not_found"],
  input: z.strictObject({ run_id: RunId }),
  output: z
    .strictObject({
      workflow_id: z.string().meta({ example: "weekly-revenue" }),
      version: Version.meta({ description: "The version of the workflow that it follows.", example: 3 }),
      patched: z
        .boolean()
        .meta({ description: "It is a changed one, of this run only, not the version's.", example: false }),
      definition: WorkflowDefinition,
    })
    .meta({ id: "RunDefinition", description: "What a run follows." }),
  async run({ run_id }, ctx) {
    const { workflowId, version, definition: own } = await findRun(ctx.read.runs, run_id);
    return {
      workflow_id: workflowId,
      version,
      patched: own !== null,
      // Only a version with a definition is ever run.
      definition: own ?? (await ctx.read.runs.versionDefinition(workflowId, version))!,
    };
  },
});
