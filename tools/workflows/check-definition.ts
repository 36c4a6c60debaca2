/** Checks definitions of clients against the language and the configured connections. */
import type { AppliedFix, Issue } from "../../schemas/problem.ts";
import type { CheckOptions, CheckReport } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { callContextOf, type ToolContext } from "../../src/core/tool.ts";

/** Runs the engine's checker. @throws AppError request_timeout when the client has gone */
export async function checkDefinition(
  ctx: ToolContext,
  source: unknown,
  options: Omit<CheckOptions, "signal" | "owner" | "keyLimits" | "inputsAsWritten">,
): Promise<CheckReport> {
  try {
    return await ctx.engine.check(source, {
      ...options,
      keyLimits: ctx.actor.principal.access.keyLimits,
      inputsAsWritten: ctx.actor.client.surface === "mcp",
      ...callContextOf(ctx),
    });
  } catch (error) {
    if (!ctx.signal.aborted) throw error;
    throw new AppError("request_timeout", "The client disconnected before the definition was checked.");
  }
}

/** A definition that can be stored, with what the checker found. */
export interface CheckedDefinition {
  definition: Record<string, unknown>;
  /** With `baseText`: the text to store beside it. */
  text?: string;
  issues: Issue[];
  /** Findings that do not keep it from running; left out when there are none. */
  warnings?: Issue[];
  /** The fixes that were applied, if that was asked for. */
  applied_fixes?: AppliedFix[];
}

/**
 * Parses and checks a definition to be stored. It may have issues, but it must be parsable.
 * @param source an object, or YAML or JSON text
 * @param workflow its project, its own id if it exists already, whether the patches of its issues are applied first, and the text that
 *   it changes
 * @throws AppError invalid_input, with line and column for text
 */
export async function readDefinition(
  ctx: ToolContext,
  source: unknown,
  workflow: Pick<CheckOptions, "project" | "selfId" | "applyFixes" | "baseText">,
): Promise<CheckedDefinition> {
  const report = await checkDefinition(ctx, source, { checkConnections: true, ...workflow });
  const { definition, text, errors, warnings, applied_fixes: applied } = report;
  if (definition !== null)
    return {
      definition,
      ...(text !== undefined && { text }),
      issues: errors,
      ...(warnings.length > 0 && { warnings }),
      ...(applied !== undefined && { applied_fixes: applied }),
    };
  throw invalidInput(
    errors.map((issue): Issue =>
      Object.assign({}, issue, { path: issue.path === "" ? "definition" : `definition.${issue.path}` }),
    ),
  );
}

/** The fields of a saved workflow that say what the checker found. */
export function findingsOf(checked: CheckedDefinition): Omit<CheckedDefinition, "definition" | "text"> {
  const { definition: _, text: _text, ...findings } = checked;
  return findings;
}
