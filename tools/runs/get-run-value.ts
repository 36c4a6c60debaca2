import { z } from "zod";
import { RunId } from "../../schemas/run.ts";
import { text } from "../../schemas/text.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";
import { placeOf } from "./value-place.ts";

/** Default page size, in characters. */
const DEFAULT_PAGE_CHARS = 20_000;

export const getRunValue = defineTool({
  name: "get_run_value",
  title: "Get a full value of a run",
  description:
    "Returns a value that get_run truncated, as JSON text in pages: output, inputs, steps.<id>.output, " +
    "steps.<id>.attempts.<n>.input, steps.<id>.items.<i>.output.",
  route: "GET /runs/:run_id/values/:ref",
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["run_not_found", "value_not_found"],
  input: z.strictObject({
    run_id: RunId,
    ref: text(200, 1).meta({
      description: "The ref of the truncated value.",
      example: "steps.revenue.output",
    }),
    offset: z.int().min(0).max(100_000_000).default(0).meta({
      description: "next_offset of the previous page.",
      example: 0,
    }),
    max_chars: z.int().min(1).max(100_000).default(DEFAULT_PAGE_CHARS).meta({
      description: "Page size in characters.",
      example: DEFAULT_PAGE_CHARS,
    }),
  }),
  output: z
    .strictObject({
      run_id: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
      ref: z.string().meta({ example: "steps.revenue.output" }),
      text: z.string().meta({ description: "A page of the value's JSON text.", example: '{"rows":[]}' }),
      offset: z.int().meta({ example: 0 }),
      chars: z.int().meta({ description: "Length of the whole text, in characters.", example: 11 }),
      next_offset: z
        .int()
        .nullable()
        .meta({ description: "Offset of the next page; null on the last.", example: null }),
    })
    .meta({ id: "RunValue", description: "A page of a value of a run." }),
  async run({ run_id, ref, offset, max_chars: pageChars }, ctx) {
    const { id } = await findRun(ctx.read.runs, run_id);
    const location = placeOf(id, ref);
    const value = location && (await ctx.read.runs.valueText(location, { from: offset, chars: pageChars }));
    if (value === undefined) throw valueNotFound(id, ref);
    const next = offset + pageChars;
    return {
      run_id: id,
      ref,
      text: value.text,
      offset,
      chars: value.chars,
      next_offset: next < value.chars ? next : null,
    };
  },
});

const valueNotFound = (id: string, ref: string): AppError =>
  new AppError(
    "value_not_found",
    `The run ${id} has no value "${ref}". Values are inputs, output (when it has succeeded), state and committed (of a workflow with state), steps.<id>.output, ` +
      "steps.<id>.attempts.<n>.input, and for a fan-out steps.<id>.items.<i>.output. " +
      `get_run with detail steps (GET /runs/${id}?detail=steps) lists its steps.`,
    { errors: [{ path: "ref", code: "not_found", message: "is not a value of this run" }] },
  );
