import { z } from "zod";
import { Issue } from "../../schemas/problem.ts";
import { RunInputs } from "../../schemas/run.ts";
import {
  AppliedFixes,
  ApplyFixes,
  DefinitionInput,
  WorkflowDefinition,
  WorkflowIdRef,
} from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { checkDefinition } from "./check-definition.ts";

/** Maximum size of the preview, in characters of JSON. */
const PREVIEW_CHARS = 20_000;

export const validateWorkflow = defineTool({
  name: "validate_workflow",
  title: "Validate a workflow",
  description:
    "Checks a whole definition without saving or running it: structure, expressions, and the configured databases, models " +
    "and servers. Returns all issues at once, and the output type of each step. With mocks it evaluates expressions.",
  route: "POST /workflows/validate",
  // Not read, because the checker queries the configured databases.
  scope: "write",
  effect: "read",
  openWorld: true,
  errors: [],
  input: z.strictObject({
    definition: DefinitionInput,
    apply_fixes: ApplyFixes,
    workflow_id: WorkflowIdRef.optional().meta({
      description: "The workflow that the definition is for, if it exists.",
      example: "weekly-revenue",
    }),
    inputs: RunInputs.optional().meta({ description: "Inputs of a run, checked too.", example: {} }),
    mocks: RunInputs.optional().meta({
      description: "Outputs of steps by id, for the evaluation of expressions (preview).",
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
      preview: z.unknown().optional().meta({ description: "With mocks: the values of fields and output." }),
    })
    .meta({ id: "Validation", description: "The result of checking a definition." }),
  async run({ definition, workflow_id: selfId, inputs, mocks, apply_fixes: applyFixes }, ctx) {
    const options = { checkConnections: true, selfId, inputs, mocks, applyFixes };
    const report = await checkDefinition(ctx, definition, options);
    const { valid, errors, warnings, preview, applied_fixes: applied } = report;
    if (report.definition === null) return { valid, errors };
    const json = preview === undefined ? "" : JSON.stringify(preview);
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
      ...(preview !== undefined && {
        preview:
          json.length <= PREVIEW_CHARS
            ? preview
            : { truncated: true, chars: json.length, preview: json.slice(0, PREVIEW_CHARS).toWellFormed() },
      }),
    };
  },
});
