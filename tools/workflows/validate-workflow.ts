import { z } from "zod";
import { Issue } from "../../schemas/problem.ts";
import { RunInputs } from "../../schemas/run.ts";
import { DefinitionInput, WorkflowIdRef } from "../../schemas/workflow.ts";
import { formatShape } from "../../src/core/format-shape.ts";
import { defineTool } from "../../src/core/tool.ts";
import { checkDefinition } from "./check-definition.ts";

const OUTPUT_CHARS = 1_000;
const PREVIEW_CHARS = 20_000;

export const validateWorkflow = defineTool({
  name: "validate_workflow",
  title: "Validate a workflow",
  description:
    "Checks a definition as a whole without saving or running it: form, expressions, and against the real databases, " +
    "models and servers. Gives every fault at once, and what each step will give. With mocks it evaluates expressions.",
  route: "POST /workflows/validate",
  // It reaches into databases, which who may only read what is stored here has no business with.
  scope: "write",
  effect: "read",
  openWorld: true,
  errors: [],
  input: z.strictObject({
    definition: DefinitionInput,
    workflow_id: WorkflowIdRef.optional().meta({
      description: "The workflow that it is to belong to, if there is one.",
      example: "weekly-revenue",
    }),
    inputs: RunInputs.optional().meta({ description: "Inputs of a run, to be checked too.", example: {} }),
    mocks: RunInputs.optional().meta({
      description: "Outputs of steps by id: preview then shows what expressions give.",
      example: { revenue: { rows: [{ region: "north", total: 7 }] } },
    }),
  }),
  output: z
    .strictObject({
      valid: z.boolean().meta({ example: true }),
      errors: z
        .array(Issue)
        .meta({ description: "All faults, at most 100; with text also line and column." }),
      steps: z
        .array(
          z.strictObject({
            id: z.string().meta({ example: "revenue" }),
            type: z.string().meta({ example: "sql" }),
            output: z.string().meta({
              description: "What expressions see as steps.<id>.",
              example: "{rows: [{region: text}], row_count: number}",
            }),
            effects: z.boolean().meta({ description: "Whether running it twice does something twice." }),
          }),
        )
        .optional(),
      output: z
        .string()
        .optional()
        .meta({ description: "What a run gives.", example: "{best_region: text}" }),
      preview: z.unknown().optional().meta({ description: "With mocks: what fields and output come to." }),
    })
    .meta({ id: "Validation", description: "What is known of a definition before it runs." }),
  async run({ definition, workflow_id: selfId, inputs, mocks }, ctx) {
    const report = await checkDefinition(ctx, definition, { checkConnections: true, selfId, inputs, mocks });
    const { valid, errors, preview } = report;
    if (report.definition === null) return { valid, errors };
    const shown = preview === undefined ? "" : JSON.stringify(preview);
    return {
      valid,
      errors,
      steps: report.steps.map(({ id, type, output, effects }) => ({
        id,
        type,
        output: formatShape(output).slice(0, OUTPUT_CHARS),
        effects,
      })),
      output: formatShape(report.output_shape).slice(0, OUTPUT_CHARS),
      ...(preview !== undefined && {
        preview:
          shown.length <= PREVIEW_CHARS
            ? preview
            : { truncated: true, chars: shown.length, preview: shown.slice(0, PREVIEW_CHARS).toWellFormed() },
      }),
    };
  },
});
