/** Compiles expressions over recorded runs. */
import type { RunExpression } from "../../core/run-expressions.ts";
import { ANY, NUMBER, nullable, objectOf, STRING } from "../../core/shapes.ts";
import {
  checkCel,
  compileCel,
  ExpressionError,
  type ExpressionIssue,
  type TypeScope,
} from "./expressions/index.ts";
import { applyEdits } from "./fixes/text-rewrites.ts";

/** The fields of `run`, as lists of runs have them. */
const RUN_FIELDS = {
  id: STRING,
  workflow_id: nullable(STRING),
  version: nullable(NUMBER),
  status: STRING,
  trigger: STRING,
  created_at: STRING,
  started_at: nullable(STRING),
  finished_at: nullable(STRING),
  duration_ms: nullable(NUMBER),
  error: nullable(objectOf({ code: STRING, message: STRING, step_id: nullable(STRING) })),
};

/** Number of times that the one right change of an expression is applied: a comparison in SQL has `=`, `and` and a name. */
const MAX_REWRITES = 5;

/**
 * Compiles an expression. Where each issue of it has one right change, such as == for =, the changed one is compiled.
 * @returns the issues of an expression that can't be compiled
 */
export function compileForRuns(source: string): RunExpression | { issues: readonly ExpressionIssue[] } {
  let text = bareSource(source);
  for (let rewrites = 0; ; rewrites += 1) {
    const issues = issuesOf(text);
    if (issues.length === 0) return compiled(text);
    const bare = text;
    const edits = issues.flatMap(({ rewrite }) => (rewrite?.source === bare ? [rewrite] : []));
    const changed = edits.length === issues.length ? applyEdits(text, edits) : text;
    if (changed === text || rewrites === MAX_REWRITES) return { issues: issuesOf(source) };
    text = changed;
  }
}

/** An expression without the brackets that templates have around it. */
const bareSource = (source: string): string => (/^\s*\$\{\{(.*)\}\}\s*$/s.exec(source)?.[1] ?? source).trim();

function issuesOf(source: string): ExpressionIssue[] {
  const scope: TypeScope = {
    inputs: ANY,
    run: objectOf(RUN_FIELDS),
    steps: Object.fromEntries([...stepIdsIn(source)].map((id) => [id, ANY])),
    otherSteps: new Set(),
    state: ANY,
    output: ANY,
  };
  return checkCel(source, scope)
    .issues.filter(({ severity }) => severity !== "warning")
    .map((issue) => ofRun(issue) ?? issue);
}

/** A step of any name may be read: which ones a run has is known when it is read. */
function stepIdsIn(source: string): ReadonlySet<string> {
  try {
    return compileCel(source).stepIds;
  } catch {
    return new Set();
  }
}

/** The issue of a field of `run` that is written without `run.`. */
function ofRun({ code, place, ...issue }: ExpressionIssue): ExpressionIssue | undefined {
  if (code !== "unknown_name" || place === undefined) return undefined;
  const name = /^\w+/.exec(place.source.slice(place.offset))?.[0] ?? "";
  if (!Object.hasOwn(RUN_FIELDS, name)) return undefined;
  const edit = { start: place.offset, end: place.offset + name.length, text: `run.${name}` };
  return {
    ...issue,
    code,
    place,
    fix: `Write run.${name}.`,
    rewrite: { source: place.source, edits: [edit] },
  };
}

function compiled(source: string): RunExpression {
  const { stepIds, names, measure } = compileCel(source);
  return {
    source,
    stepIds,
    names,
    evaluate(scope, maxCost) {
      try {
        return measure(scope, maxCost);
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        return { message: error.message, cost: error.cost };
      }
    },
  };
}
