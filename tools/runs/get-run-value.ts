import { z } from "zod";
import { RunId } from "../../schemas/run.ts";
import { text } from "../../schemas/text.ts";
import { AppError } from "../../src/core/errors.ts";
import type { RunReader } from "../../src/core/run-ports.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";

const PAGE_CHARS = 20_000;

export const getRunValue = defineTool({
  name: "get_run_value",
  title: "Get a whole value of a run",
  description:
    "Gives a value that get_run cut, as JSON text, page by page: output, inputs, steps.<id>.output, " +
    "steps.<id>.attempts.<n>.input, steps.<id>.items.<i>.output.",
  route: "GET /runs/:run_id/values/:ref",
  scope: "read",
  effect: "read",
  errors: ["run_not_found", "value_not_found"],
  input: z.strictObject({
    run_id: RunId,
    ref: text(200, 1).meta({ description: "The ref of the cut value.", example: "steps.revenue.output" }),
    offset: z.int().min(0).max(100_000_000).default(0).meta({
      description: "Where to go on: next_offset of the page before.",
      example: 0,
    }),
    max_chars: z.int().min(1).max(100_000).default(PAGE_CHARS).meta({
      description: "How much at a time, in characters.",
      example: PAGE_CHARS,
    }),
  }),
  output: z
    .strictObject({
      run_id: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
      ref: z.string().meta({ example: "steps.revenue.output" }),
      text: z.string().meta({ description: "JSON text, or a part of it.", example: '{"rows":[]}' }),
      offset: z.int().meta({ example: 0 }),
      chars: z.int().meta({ description: "How long the whole is.", example: 11 }),
      next_offset: z
        .int()
        .nullable()
        .meta({ description: "Where to go on; null at the end.", example: null }),
    })
    .meta({ id: "RunValue", description: "A value of a run, or a page of it." }),
  async run({ run_id, ref, offset, max_chars: pageChars }, ctx) {
    const { id } = await findRun(ctx.read.runs, run_id);
    const at = placeOf(id, ref);
    const found = at && (await ctx.read.runs.valueText(at, { from: offset, chars: pageChars }));
    if (found === undefined) throw notFound(id, ref);
    const next = offset + pageChars;
    return {
      run_id: id,
      ref,
      text: found.text,
      offset,
      chars: found.chars,
      next_offset: next < found.chars ? next : null,
    };
  },
});

const OF_STEP =
  /^steps\.(?<step>[a-z][a-z0-9_]{0,63})(?:\.items\.(?<item>\d{1,7}))?\.(?:output|attempts\.(?<attempt>\d{1,7})\.input)$/;

function placeOf(runId: string, ref: string): Parameters<RunReader["valueText"]>[0] | undefined {
  if (ref === "inputs" || ref === "output") return { runId, what: ref };
  const parts = OF_STEP.exec(ref)?.groups;
  if (parts === undefined) return undefined;
  const { item, attempt } = parts;
  const unit = { runId, stepId: parts["step"]!, item: item === undefined ? null : Number(item) };
  return attempt === undefined
    ? { ...unit, what: "step_output" }
    : { ...unit, what: "attempt_input", attempt: Number(attempt) };
}

const notFound = (id: string, ref: string): AppError =>
  new AppError(
    "value_not_found",
    `The run ${id} has no value "${ref}". There are inputs, output (once it succeeded), steps.<id>.output, ` +
      "steps.<id>.attempts.<n>.input, and for a fan-out steps.<id>.items.<i>.output. " +
      `get_run with detail steps (GET /runs/${id}?detail=steps) shows what ran.`,
    { errors: [{ path: "ref", code: "not_found", message: "is no value of this run" }] },
  );
