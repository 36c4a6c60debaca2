/**
 * Reads the arguments of a call as models write them (`readWritten`): null also for a field that they leave out. What remains
 * different from the schema is refused by it.
 */
import { z } from "zod";
import type { Issue } from "../../../schemas/problem.ts";
import { formatPath } from "../../core/issues.ts";
import { type JsonSchema, readWritten } from "../../core/json-schema/index.ts";

/** The arguments in the form of the schema, and the issues of JSON text in them that does not say what it holds. */
export interface ReadArguments {
  input: Record<string, unknown>;
  issues: Issue[];
}

/** Creates the reader for an operation; the JSON Schema is computed once. */
export function argumentReader(
  schema: z.ZodObject,
): (args: Readonly<Record<string, unknown>>) => ReadArguments {
  let root: JsonSchema | undefined;
  return (args) => {
    root ??= z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" }) as JsonSchema;
    const { value, issues } = readWritten(root, args, { dropsNull: true });
    const written = issues.map((issue): Issue =>
      Object.assign({}, issue, { path: formatPath(issue.path ?? []) }),
    );
    return { input: value as Record<string, unknown>, issues: written };
  };
}
