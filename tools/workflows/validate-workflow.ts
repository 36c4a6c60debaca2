import { z } from "zod";
import { ProjectInput } from "../../schemas/project.ts";
import { Issue } from "../../schemas/problem.ts";
import { RunInputs } from "../../schemas/run.ts";
import { zonedTimestamp } from "../../schemas/text.ts";
import {
  AppliedFixes,
  ApplyFixes,
  DefinitionInput,
  WorkflowDefinition,
  WorkflowIdRef,
} from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { projectFor } from "../projects/project-for.ts";
import { shortenLists } from "../runs/shorten-lists.ts";
import { outputChars } from "../runs/start-run.ts";
import { checkDefinition } from "./check-definition.ts";

export const validateWorkflow = defineTool({
  name: "validate_workflow",
  title: "Validate a workflow",
  description:
    "Checks a whole definition without saving or running it, also against the databases, models and servers. Returns all " +
    "issues, and the output type of each step. With mocks it evaluates expressions.",
  route: "POST /workflows/validate",
  // Not read, because the checker queries the configured databases.
  scope: "write",
  effect: "read",
  selectable: true,
  openWorld: true,
  errors: ["project_not_found"],
  input: z.strictObject({
    definition: DefinitionInput,
    apply_fixes: ApplyFixes,
    workflow_id: WorkflowIdRef.optional().meta({
      description: "Its workflow, if it exists.",
      example: "weekly-revenue",
    }),
    project: ProjectInput,
    inputs: RunInputs.optional().meta({ description: "Inputs of a run, checked too.", example: {} }),
    mocks: RunInputs.optional().meta({
      description: "Outputs of steps by id, {} for none, to evaluate expressions (preview).",
      example: { revenue: { rows: [{ region: "north", total: 7 }] } },
    }),
  }),
  output: z
    .strictObject({
      valid: z.boolean().meta({ example: true }),
      errors: z
        .array(Issue)
        .meta({ description: "All issues, at most 100; with line and column when the definition is text." }),
      warnings: z
        .array(Issue)
        .optional()
        .meta({ description: "What may fail, but does not prevent running. Left out when empty." }),
      definition: WorkflowDefinition.optional().meta({
        type: "object",
        description: "With apply_fixes: the fixed definition, also when text was sent.",
      }),
      applied_fixes: AppliedFixes,
      steps: z
        .array(
          z.strictObject({
            id: z.string().meta({ example: "revenue" }),
            type: z.string().meta({ example: "sql" }),
            output: z.string().meta({
              description: "The type of steps.<id> in expressions.",
              example: "{rows: [{region: text}], row_count: number}",
            }),
            effects: z
              .boolean()
              .meta({ description: "Whether running the step twice has its effect twice." }),
          }),
        )
        .optional(),
      output: z
        .string()
        .optional()
        .meta({ description: "The type of a run's output.", example: "{best_region: text}" }),
      next_runs: z
        .array(zonedTimestamp)
        .optional()
        .meta({ description: "With a schedule: its next five times." }),
      preview: z.unknown().optional().meta({
        description:
          "With mocks: the values of fields and output, also after steps that only compute; not_evaluated says why a value is not known.",
      }),
    })
    .meta({ id: "Validation", description: "The result of checking a definition." }),
  async run(
    { definition, workflow_id: selfId, project: requested, inputs, mocks, apply_fixes: applyFixes },
    ctx,
  ) {
    const known = selfId === undefined ? undefined : await ctx.read.workflows.projectOf(selfId);
    const project = await projectFor(ctx, "write", known ?? requested);
    const options = { checkConnections: true, project, selfId, inputs, mocks, applyFixes };
    const report = await checkDefinition(ctx, definition, options);
    const { valid, errors, warnings, next_runs, preview, applied_fixes: applied } = report;
    if (report.definition === null) return { valid, errors };
    return {
      valid,
      errors,
      ...(warnings.length > 0 && { warnings }),
      ...(applied !== undefined && { definition: report.definition, applied_fixes: applied }),
      steps: report.steps.map(({ id, type, output_type: output, effects }) => ({
        id,
        type,
        output,
        effects,
      })),
      output: report.output_type,
      ...(next_runs !== undefined && { next_runs }),
      ...(preview !== undefined && { preview: shortPreview(preview, outputChars(ctx)) }),
    };
  },
});

/** The preview, or the first part of one of more characters of JSON. */
function shortPreview(preview: object, maxChars: number): unknown {
  const json = JSON.stringify(preview);
  if (json.length <= maxChars) return preview;
  const shortened = shortenLists(preview, maxChars) ?? { preview: json.slice(0, maxChars).toWellFormed() };
  return { truncated: true, chars: json.length, ...shortened };
}
