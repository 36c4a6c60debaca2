/** Finds the published workflows that a version would break if it were published. */
import type { Issue } from "../../schemas/problem.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { checkDefinition } from "./check-definition.ts";

/** Maximum number of callers that are checked, on all levels. */
const MAX_CALLERS = 1_000;
/** Maximum number of issues of one caller in an error. */
const MAX_ISSUES = 10;

interface BrokenCaller {
  id: string;
  /** What it would lack then, and does not lack now. */
  issues: Issue[];
}

/**
 * Checks the published workflows that run a workflow, directly or through others, against a version of it.
 * @param allowed ids of callers that may break
 * @throws AppError callers_would_break with the issues of all others
 */
export async function assertCallersFit(
  ctx: ToolContext,
  id: string,
  definition: Record<string, unknown>,
  allowed: readonly string[],
): Promise<void> {
  const asPublished = new Map([[id, definition]]);
  const broken: BrokenCaller[] = [];
  for (const caller of await allCallers(ctx, id)) {
    const issues = await newIssues(ctx, caller, asPublished);
    if (issues.length > 0) broken.push({ id: caller, issues });
  }
  const refused = broken.filter((caller) => !allowed.includes(caller.id));
  if (refused.length > 0) throw callersWouldBreak(id, broken);
}

/** The ids of the published callers on all levels, the nearest first. */
async function allCallers(ctx: ToolContext, id: string): Promise<string[]> {
  const found = new Set([id]);
  for (const callee of found) {
    if (found.size > MAX_CALLERS) break;
    for (const caller of await ctx.read.workflows.callers(callee, { published: true })) found.add(caller);
  }
  return [...found].slice(1);
}

async function newIssues(
  ctx: ToolContext,
  id: string,
  asPublished: ReadonlyMap<string, Record<string, unknown>>,
): Promise<Issue[]> {
  const version = (await ctx.read.workflows.find(id))?.published_version ?? null;
  const definition = version === null ? null : await ctx.read.runs.versionDefinition(id, version);
  if (definition === null) return [];
  const options = { checkConnections: false, checkWorkflows: true, selfId: id };
  const { errors } = await checkDefinition(ctx, definition, { ...options, asPublished });
  if (errors.length === 0) return [];
  const before = await checkDefinition(ctx, definition, options);
  const known = new Set(before.errors.map(identityOf));
  return errors.filter((issue) => !known.has(identityOf(issue)));
}

const identityOf = ({ path, code }: Issue): string => `${path} ${code}`;

function callersWouldBreak(id: string, broken: readonly BrokenCaller[]): AppError {
  const ids = broken.map((caller) => caller.id);
  const listed = broken.slice(0, 5).map((caller) => {
    const { path, message } = caller.issues[0]!;
    return `${caller.id} (${path} ${message})`;
  });
  const more = broken.length > listed.length ? `, and ${broken.length - listed.length} more` : "";
  return new AppError(
    "callers_would_break",
    `Nothing was published: the new version of "${id}" would break ${broken.length === 1 ? "a workflow that runs" : `${broken.length} workflows that run`} it: ` +
      `${listed.join("; ")}${more}. Keep what they rely on, or publish with break_callers: ${JSON.stringify(ids)} and fix them then.`,
    {
      errors: broken.flatMap(({ id: caller, issues }) =>
        issues
          .slice(0, MAX_ISSUES)
          .map((issue) => Object.assign({}, issue, { path: `${caller}.${issue.path}` })),
      ),
    },
  );
}
