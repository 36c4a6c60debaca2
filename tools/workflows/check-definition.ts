/** Reading a definition as a client handed it in, and holding it against the language and the real world. */
import type { Issue } from "../../schemas/problem.ts";
import type { CheckOptions, CheckReport } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** As the engine checks; gives up when nobody waits for the answer any more. */
export async function checkDefinition(
  ctx: ToolContext,
  source: unknown,
  options: Omit<CheckOptions, "signal">,
): Promise<CheckReport> {
  try {
    return await ctx.engine.check(source, { ...options, signal: ctx.signal });
  } catch (error) {
    if (!ctx.signal.aborted) throw error;
    throw new AppError("request_timeout", "The client went away before the definition was checked.");
  }
}

/** A definition that can be stored, and what still keeps it from running. */
export interface CheckedDefinition {
  definition: Record<string, unknown>;
  issues: Issue[];
}

/**
 * Reads a definition that is to be stored: with faults it is a draft, but it must be readable.
 * @param source an object, or YAML or JSON text
 * @param selfId the workflow's own id, where it has one
 * @throws AppError invalid_input, with line and column for text
 */
export async function readDefinition(
  ctx: ToolContext,
  source: unknown,
  selfId?: string,
): Promise<CheckedDefinition> {
  const { definition, errors } = await checkDefinition(ctx, source, { checkConnections: true, selfId });
  if (definition !== null) return { definition, issues: errors };
  throw invalidInput(
    errors.map((issue): Issue =>
      Object.assign({}, issue, { path: issue.path === "" ? "definition" : `definition.${issue.path}` }),
    ),
  );
}
