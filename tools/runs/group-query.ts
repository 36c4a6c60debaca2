/** What runs are grouped by: fields of runs, and expressions over them. */
import { GROUP_FIELDS, type GroupField } from "../../schemas/run-groups.ts";
import type { Issue } from "../../schemas/problem.ts";
import { iso, MINUTE } from "../../src/core/clock.ts";
import type { EngineApi } from "../../src/core/engine-port.ts";
import { formatPath, invalidInput } from "../../src/core/issues.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import type { RunExpression } from "../../src/core/run-expressions.ts";
import type { ScannedRun } from "../../src/core/run-ports.ts";
import { timeZone } from "../../src/core/time-zone.ts";

/** An expression under the name that its caller gave it. */
export interface NamedExpression {
  name: string;
  expression: RunExpression;
}

export interface GroupQuery {
  where: NamedExpression | undefined;
  /** In the order of the groups. */
  keys: readonly (NamedExpression | NamedField)[];
  measures: readonly NamedExpression[];
}

/** A field of each run; it has no value where the function returns undefined. */
export interface NamedField {
  name: string;
  valueOf: (run: ScannedRun) => unknown;
}

interface GroupInput {
  where: string | undefined;
  groupBy: readonly string[];
  measures: readonly string[];
  timezone: string | undefined;
}

const isGroupField = (name: string): name is GroupField => (GROUP_FIELDS as readonly string[]).includes(name);

/** @throws AppError invalid_input with all issues */
export async function groupQuery(
  engine: Pick<EngineApi, "compileForRuns">,
  { where, groupBy, measures, timezone = "UTC" }: GroupInput,
): Promise<GroupQuery> {
  const issues: Issue[] = [];
  const compile = (name: string, path: readonly PropertyKey[]) => compileNamed(engine, name, path, issues);
  const condition = where === undefined ? undefined : await compile(where, ["where"]);
  const keys: (NamedExpression | NamedField | undefined)[] = [];
  const fields = fieldsIn(timezone, issues);
  for (const [index, name] of groupBy.entries()) {
    if (groupBy.indexOf(name) !== index) continue;
    if (isGroupField(name)) keys.push({ name, valueOf: fields[name] });
    else if (/^\w+$/.test(name) && !SCOPE_NAMES.has(name)) issues.push(unknownField(name, index));
    else keys.push(await compile(name, ["group_by", index]));
  }
  const found: (NamedExpression | undefined)[] = [];
  for (const [index, name] of measures.entries()) {
    if (measures.indexOf(name) === index) found.push(await compile(name, ["measures", index]));
  }
  if (issues.length > 0) throw invalidInput(issues);
  return {
    where: condition,
    keys: keys.filter((key) => key !== undefined),
    measures: found.filter((measure) => measure !== undefined),
  };
}

/** Compiles an expression. @returns undefined if it has issues, which are added to `issues` */
export async function compileNamed(
  { compileForRuns }: Pick<EngineApi, "compileForRuns">,
  name: string,
  path: readonly PropertyKey[],
  issues: Issue[],
): Promise<NamedExpression | undefined> {
  const expression = await compileForRuns(name);
  if (!("issues" in expression)) return { name, expression };
  for (const {
    path: _path,
    rewrite: _rewrite,
    place: _place,
    subject: _subject,
    ...issue
  } of expression.issues)
    issues.push({ ...issue, path: formatPath(path) });
  return undefined;
}

/** Names that are expressions themselves. */
const SCOPE_NAMES: ReadonlySet<string> = new Set(["inputs", "output", "state"]);

function unknownField(name: string, index: number): Issue {
  const near = nearMatch(name, GROUP_FIELDS);
  return {
    path: formatPath(["group_by", index]),
    code: "not_allowed",
    message: `must be a field of runs or an expression, got ${name}`,
    allowed: [...GROUP_FIELDS],
    ...(near !== undefined && { did_you_mean: near }),
    fix: near === undefined ? `Write a value as output.${name} or inputs.${name}.` : `Write ${near}.`,
  };
}

/** How long no clock of a time zone changes: all changes are at full quarters of an hour. */
const STEP = 15 * MINUTE;

function fieldsIn(timezone: string, issues: Issue[]): Record<GroupField, NamedField["valueOf"]> {
  const toLocal = localTimes(timezone, issues);
  return {
    workflow_id: ({ workflowId }) => workflowId ?? undefined,
    version: ({ version }) => version ?? undefined,
    status: ({ status }) => status,
    trigger: ({ trigger }) => trigger,
    error_code: ({ error }) => error?.code,
    failed_step: ({ error }) => error?.step_id,
    hour: ({ createdAt }) => toLocal(createdAt).slice(0, 13).concat(":00"),
    day: ({ createdAt }) => toLocal(createdAt).slice(0, 10),
    month: ({ createdAt }) => toLocal(createdAt).slice(0, 7),
  };
}

/** Converts times (ISO 8601, UTC) to local ones. Each quarter of an hour is converted once. */
function localTimes(timezone: string, issues: Issue[]): (at: string) => string {
  if (timezone === "UTC") return (at) => at;
  try {
    const zone = timeZone(timezone);
    const offsets = new Map<number, number>();
    return (at) => {
      const moment = Date.parse(at);
      const quarter = Math.floor(moment / STEP);
      let offset = offsets.get(quarter);
      if (offset === undefined) {
        offset = zone.toLocal(quarter * STEP) - quarter * STEP;
        offsets.set(quarter, offset);
      }
      return iso(moment + offset);
    };
  } catch {
    issues.push({
      path: "timezone",
      code: "unknown_timezone",
      message: "is no known time zone",
      fix: "Write it as Europe/Berlin or +02:00.",
    });
    return (at) => at;
  }
}
