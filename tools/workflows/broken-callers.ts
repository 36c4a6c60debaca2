/** Finds the published workflows that a change of a workflow would break. */
import type { Issue } from "../../schemas/problem.ts";
import { projectOf } from "../../schemas/project.ts";
import { AppError } from "../../src/core/errors.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import type { CalleeChange } from "./callee-changes.ts";
import { checkDefinition } from "./check-definition.ts";

/** Maximum number of issues of one caller in an error. */
const MAX_ISSUES = 10;
/** Number of callers that the message names with their first issue; `errors` has all. */
const MAX_IN_MESSAGE = 5;

/** Stands for the callers in projects that the caller of the operation can't see. */
const OTHER_PROJECTS = "*";

interface BrokenCaller {
  id: string;
  /** What it would lack then, and does not lack now. */
  issues: Issue[];
}

/**
 * Checks the workflows that run a workflow, directly or through others, against a change of it.
 * @param allowed ids of callers that may break
 * @throws AppError callers_would_break with the issues of all others
 */
export async function assertCallersFit(
  ctx: ToolContext,
  change: CalleeChange,
  allowed: readonly string[],
): Promise<void> {
  const broken: BrokenCaller[] = [];
  for (const caller of await allCallers(ctx, change)) {
    if (change.leaving?.has(caller)) continue;
    const issues = await newIssues(ctx, caller, change);
    if (issues.length > 0) broken.push({ id: caller, issues });
  }
  const visible = new Set(await visibleIds(ctx, broken));
  const known = broken.filter((caller) => visible.has(caller.id));
  const hiddenCount = broken.length - known.length;
  const refused = known.filter((caller) => !allowed.includes(caller.id));
  if (refused.length > 0 || (hiddenCount > 0 && !allowed.includes(OTHER_PROJECTS)))
    throw callersWouldBreak(change, known, hiddenCount);
}

/** Those of the callers that the caller of the operation can see. */
async function visibleIds(ctx: ToolContext, broken: readonly BrokenCaller[]): Promise<string[]> {
  const ids: string[] = [];
  for (const { id } of broken) if ((await ctx.read.workflows.projectOf(id)) !== undefined) ids.push(id);
  return ids;
}

/** The ids of the callers on all levels, the nearest first. */
async function allCallers(ctx: ToolContext, { id, includesDrafts }: CalleeChange): Promise<string[]> {
  const { workflows } = unscoped(ctx.read);
  const found = new Set([id]);
  for (const callee of found)
    for (const caller of await workflows.callers(callee, { published: includesDrafts !== true }))
      found.add(caller);
  return [...found].slice(1);
}

async function newIssues(
  ctx: ToolContext,
  id: string,
  { includesDrafts, outcome }: CalleeChange,
): Promise<Issue[]> {
  // A caller may belong to another project, which calls what this one offers.
  const { workflows, runs } = unscoped(ctx.read);
  const workflow = (await workflows.find(id))!;
  const project = projectOf(workflow);
  const assumed = await outcome(project);
  const version = workflow.published_version ?? (includesDrafts ? workflow.version : null);
  const definition =
    assumed.asPublished?.get(id) ?? (version === null ? null : await runs.versionDefinition(id, version));
  if (definition === null) return [];
  const options = { checkConnections: false, checkWorkflows: true, project, selfId: id };
  const { errors } = await checkDefinition(ctx, definition, { ...options, ...assumed });
  if (errors.length === 0) return [];
  const before = await checkDefinition(ctx, definition, options);
  const known = new Set(before.errors.map(identityOf));
  return errors.filter((issue) => !known.has(identityOf(issue)));
}

const identityOf = ({ path, code }: Issue): string => `${path} ${code}`;

function callersWouldBreak(
  { refused, instead }: CalleeChange,
  broken: readonly BrokenCaller[],
  hiddenCount: number,
): AppError {
  const ids = [...broken.map((caller) => caller.id), ...(hiddenCount > 0 ? [OTHER_PROJECTS] : [])];
  const count = broken.length + hiddenCount;
  const listed = broken.slice(0, MAX_IN_MESSAGE).map((caller) => {
    const { path, message } = caller.issues[0]!;
    return `${caller.id} (${path} ${message})`;
  });
  const parts = [
    ...listed,
    ...(broken.length > listed.length ? [`${broken.length - listed.length} more`] : []),
    ...(hiddenCount > 0 ? [`${hiddenCount} in other projects ("${OTHER_PROJECTS}")`] : []),
  ];
  return new AppError(
    "callers_would_break",
    `${refused} would break ${count === 1 ? "a workflow that runs" : `${count} workflows that run`} it: ` +
      `${parts.join("; ")}. ${instead} break_callers: ${JSON.stringify(ids)} and fix them then.`,
    {
      errors: [
        {
          path: "break_callers",
          code: "not_confirmed",
          message: "does not name every workflow that would break",
          allowed: ids,
        },
        ...broken.flatMap(({ id: caller, issues }) =>
          issues
            .slice(0, MAX_ISSUES)
            .map((issue) => Object.assign({}, issue, { path: `${caller}.${issue.path}` })),
        ),
      ],
    },
  );
}
