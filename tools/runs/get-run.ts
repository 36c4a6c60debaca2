import { z } from "zod";
import { Run, RunId } from "../../schemas/run.ts";
import { text } from "../../schemas/text.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";
import { buildRunResponse } from "./run-response.ts";
import { MAX_DETAILED_STEPS, getRunStep, listRunSteps, listRunStepsWithValues } from "./run-steps.ts";

export const getRun = defineTool({
  name: "get_run",
  title: "Get a run",
  description:
    "Tells how a run stands, shortly: its status, its output, the step that failed with its resolved input, and what to " +
    "do next. For more: detail, or step_id. Large values are cut, with the ref that get_run_value takes.",
  route: "GET /runs/:run_id",
  scope: "read",
  effect: "read",
  errors: ["run_not_found"],
  input: z.strictObject({
    run_id: RunId,
    detail: z
      .enum(["summary", "steps", "full"])
      .default("summary")
      .meta({
        description: `steps: all steps. full: the first ${MAX_DETAILED_STEPS} also with outputs and attempts.`,
        example: "steps",
      }),
    step_id: text(64, 1)
      .optional()
      .meta({ description: "Only this step, with its output, attempts and items.", example: "revenue" }),
    item: z.int().min(0).max(1_000_000).optional().meta({
      description: "With step_id of a fan-out: this item, counted from 0.",
      example: 17,
    }),
    max_chars: z.int().min(100).max(100_000).default(2_000).meta({
      description: "Longer values are cut: characters of JSON.",
      example: 2_000,
    }),
  }),
  output: Run,
  async run({ run_id, detail, step_id: stepId, item, max_chars: maxChars }, ctx) {
    if (item !== undefined && stepId === undefined) {
      const issue = { path: "step_id", code: "missing", message: "is missing: an item belongs to a step" };
      throw invalidInput([issue]);
    }
    const run = await findRun(ctx.read.runs, run_id);
    const card = await buildRunResponse(ctx, run, maxChars);
    if (stepId !== undefined)
      return { ...card, steps: [await getRunStep(ctx, run, { stepId, item, maxChars })] };
    if (detail === "steps") return { ...card, steps: await listRunSteps(ctx, run) };
    if (detail === "full") return { ...card, steps: await listRunStepsWithValues(ctx, run, maxChars) };
    return card;
  },
});
