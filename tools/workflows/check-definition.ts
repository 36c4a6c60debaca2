/** Checks definitions of clients against the language and the configured connections. */
import type { AppliedFix, Issue } from "../../schemas/problem.ts";
import { applyFixes } from "../../src/core/apply-fixes.ts";
import type { CheckOptions, CheckReport } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { callContextOf, type ToolContext } from "../../src/core/tool.ts";

/** Runs the engine's checker. @throws AppError request_timeout when the client has gone */
export async function checkDefinition(
  ctx: ToolContext,
  source: unknown,
  options: Omit<CheckOptions, "signal" | "owner">,
): Promise<CheckReport> {
  try {
    return await ctx.engine.check(source, { ...options, ...callContextOf(ctx) });
  } catch (error) {
    if (!ctx.signal.aborted) throw error;
    throw new AppError("request_timeout", "The client disconnected before the definition was checked.");
  }
}

/** The options of a check that may also apply the patches of the issues. */
interface FixOptions extends Omit<CheckOptions, "signal" | "owner" | "checkConnections"> {
  applyFixes: boolean;
}

/**
 * Checks a definition with its connections, after its patches are applied if that is asked for.
 * @returns the report, and what was applied; undefined if nothing was to be applied
 * @throws AppError request_timeout when the client has gone
 */
export async function checkAndFix(
  ctx: ToolContext,
  source: unknown,
  { applyFixes: isFixed, ...options }: FixOptions,
): Promise<{ report: CheckReport; applied: AppliedFix[] | undefined }> {
  const check = (definition: unknown): Promise<CheckReport> =>
    checkDefinition(ctx, definition, { ...options, checkConnections: true });
  return isFixed ? applyFixes(source, check) : { report: await check(source), applied: undefined };
}

/** A definition that can be stored, with what the checker found. */
export interface CheckedDefinition {
  definition: Record<string, unknown>;
  issues: Issue[];
  /** Findings that do not keep it from running; left out when there are none. */
  warnings?: Issue[];
  /** The fixes that were applied, if that was asked for. */
  applied_fixes?: AppliedFix[];
}

/**
 * Parses and checks a definition to be stored. It may have issues, but it must be parsable.
 * @param source an object, or YAML or JSON text
 * @param selfId the workflow's own id, if it exists already
 * @param isFixed whether the patches of its issues are applied first
 * @throws AppError invalid_input, with line and column for text
 */
export async function readDefinition(
  ctx: ToolContext,
  source: unknown,
  selfId?: string,
  isFixed = false,
): Promise<CheckedDefinition> {
  const { report, applied } = await checkAndFix(ctx, source, { selfId, applyFixes: isFixed });
  const { definition, errors, warnings } = report;
  if (definition !== null)
    return {
      definition,
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
export function findingsOf(checked: CheckedDefinition): Omit<CheckedDefinition, "definition"> {
  const { definition: _, ...findings } = checked;
  return findings;
}
