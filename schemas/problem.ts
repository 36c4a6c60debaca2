/** Errors as clients receive them: RFC 9457 problem details over REST, the same object as text over MCP. */
import { z } from "zod";

/** One operation of a JSON Patch (RFC 6902). */
export const JsonPatchOperation = z
  .strictObject({
    op: z.enum(["add", "remove", "replace", "move"]).meta({ example: "move" }),
    path: z.string().meta({ description: "JSON Pointer of the place to change.", example: "/steps/0/if" }),
    from: z
      .string()
      .optional()
      .meta({ description: "With move: JSON Pointer of the value.", example: "/steps/0/when" }),
    value: z.unknown().optional().meta({ description: "With add and replace: the new value." }),
  })
  .meta({
    id: "JsonPatchOperation",
    description: "An operation of a JSON Patch (RFC 6902).",
    example: { op: "move", from: "/steps/0/when", path: "/steps/0/if" },
  });
export type JsonPatchOperation = z.infer<typeof JsonPatchOperation>;

export const Issue = z
  .strictObject({
    path: z
      .string()
      .meta({ description: "Path of the value, dotted; empty for the whole input.", example: "tags[1]" }),
    code: z.string().meta({ description: "Stable code of the kind of issue.", example: "too_long" }),
    message: z.string().meta({ example: "is longer than 50 characters" }),
    allowed: z
      .array(z.string())
      .optional()
      .meta({ description: "The allowed values or names.", example: ["name", "tags"] }),
    did_you_mean: z.string().optional().meta({ description: "The nearest allowed value.", example: "tags" }),
    fix: z.string().optional().meta({ description: "What to do.", example: "Remove it." }),
    patch: z
      .array(JsonPatchOperation)
      .optional()
      .meta({ description: "A JSON Patch of the definition that fixes it, where one change is right." }),
    line: z.int().min(1).optional().meta({ description: "Line of the text, from 1.", example: 12 }),
    column: z.int().min(1).optional().meta({ description: "Column of that line, from 1.", example: 5 }),
  })
  .meta({ id: "Issue", description: "A validation issue of an input or a definition." });
export type Issue = z.infer<typeof Issue>;

/** A patch that was applied, with the issue that it fixed. */
export const AppliedFix = Issue.pick({ path: true, message: true })
  .extend({ patch: z.array(JsonPatchOperation) })
  .meta({ id: "AppliedFix", description: "The fix of an issue that was applied to the definition." });
export type AppliedFix = z.infer<typeof AppliedFix>;

export const Problem = z
  .strictObject({
    type: z.string().meta({ example: "urn:millrace:problem:invalid_input" }),
    title: z.string().meta({ example: "The input is not valid" }),
    status: z.int().meta({ example: 400 }),
    detail: z.string().meta({ description: "What happened and what to do.", example: "name is required." }),
    code: z
      .string()
      .meta({ description: "Stable code, for programs to branch on.", example: "invalid_input" }),
    request_id: z.string().meta({
      description: "Id of the request in the log; quote it in a report.",
      example: "req_8dkq2m0sfj3a",
    }),
    errors: z.array(Issue).optional().meta({ description: "All issues of the input." }),
  })
  .meta({ id: "Problem", description: "Problem details (RFC 9457)." });
export type Problem = z.infer<typeof Problem>;
