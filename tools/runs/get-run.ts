import { z } from "zod";
import { Run, RunId } from "../../schemas/run.ts";
import { text } from "../../schemas/text.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";
import { buildRunResponse } from "./run-response.ts";
import { MAX_DETAILED_STEPS, getRunStep, listRunSteps, listRunStepsWithValues } from "./run-steps.ts";

/** Default maximum size of a value, in characters of JSON. */
const VALUE_CHARS = 2_000;
/** Maximum size of the values of all steps together in an answer over MCP, in characters: a model reads all of it. */
const MCP_CHARS = 20_000;

export const getRun = defineTool({
  name: "get_run",
  title: "Get a run",
  description:
    "Returns a run: status, output, the failed step with its input, and what to do next. More: detail or step_id. " +
    "Large values are truncated; get_run_value takes their ref.",
  route: "GET /runs/:run_id",
  scope: "read",
  effect: "read",
  selectable: true,
  readsValues: true,
  errors: ["run_not_found"],
  input: z.strictObject({
    run_id: RunId,
    detail: z
      .enum(["summary", "steps", "full"])
      .default("summary")
      .meta({
        description: `steps: all. full: the first ${MAX_DETAILED_STEPS} with outputs and attempts.`,
        example: "steps",
      }),
    step_id: text(64, 1)
      .optional()
      .meta({ description: "Only this step, with output, attempts and items.", example: "revenue" }),
    item: z.int().min(0).max(1_000_000).optional().meta({
      description: "With step_id: only this item, from 0.",
      example: 17,
    }),
    item_status: z.enum(["failed"]).optional().meta({
      description: "Only these items.",
      example: "failed",
    }),
    max_chars: z.int().min(100).max(100_000).optional().meta({
      description: "Maximum characters of a value. Default: 2000, less for many over MCP.",
      example: 2_000,
    }),
  }),
  output: Run,
  async run({ run_id, detail, step_id: stepId, item, item_status: itemStatus, max_chars }, ctx) {
    const maxChars = max_chars ?? VALUE_CHARS;
    if ((item ?? itemStatus) !== undefined && stepId === undefined) {
      const issue = { path: "step_id", code: "missing", message: "is missing: an item belongs to a step" };
      throw invalidInput([issue]);
    }
    const run = await findRun(ctx.read.runs, run_id);
    const response = await buildRunResponse(ctx, run, maxChars);
    if (stepId !== undefined)
      return { ...response, steps: [await getRunStep(ctx, run, { stepId, item, itemStatus, maxChars })] };
    if (detail === "steps") return { ...response, steps: await listRunSteps(ctx, run) };
    if (detail === "full") {
      const allChars = max_chars === undefined && ctx.actor.client.surface === "mcp" ? MCP_CHARS : Infinity;
      return { ...response, steps: await listRunStepsWithValues(ctx, run, { maxChars, allChars }) };
    }
    return response;
  },
});
