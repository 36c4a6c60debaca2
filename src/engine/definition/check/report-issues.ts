/**
 * Separates errors from warnings, sorts them by the order of the document, removes duplicates and adds their positions
 * in the text.
 */
import type { Issue } from "../../../../schemas/problem.ts";
import { formatPath } from "../../../core/issues.ts";
import { renderPatch } from "../../../core/json-patch.ts";
import type { Source } from "./source.ts";
import { isWarning, type LocatedIssue, MAX_ISSUES } from "./check-report.ts";

export interface ReportedIssues {
  errors: Issue[];
  warnings: Issue[];
}

/**
 * @param inDocument issues of the definition
 * @param inArguments issues of the passed inputs and mocks: they have no position in the text and come last
 */
export function reportIssues(
  inDocument: readonly LocatedIssue[],
  inArguments: readonly LocatedIssue[],
  { value, locate }: Source,
): ReportedIssues {
  const report = (belongs: (issue: LocatedIssue) => boolean): Issue[] => {
    const located = inOrder(distinct(inDocument.filter(belongs)), value).slice(0, MAX_ISSUES);
    const positions = located.length > 0 ? locate?.(located) : undefined;
    const issues = located.map((issue, index) => Object.assign({ ...positions?.[index] }, toIssue(issue)));
    return [...issues, ...distinct(inArguments.filter(belongs)).map(toIssue)].slice(0, MAX_ISSUES);
  };
  return { errors: report((issue) => !isWarning(issue)), warnings: report(isWarning) };
}

function toIssue(located: LocatedIssue): Issue {
  const {
    path,
    patch,
    line,
    column,
    rewrite: _,
    place: __,
    severity: ___,
    subject: ____,
    ...issue
  } = located;
  return {
    path: formatPath(path),
    ...issue,
    ...(line !== undefined && column !== undefined && { line, column }),
    ...(patch !== undefined && { patch: renderPatch(patch) }),
  };
}

function distinct(issues: readonly LocatedIssue[]): LocatedIssue[] {
  const reported = new Set<string>();
  return issues.filter(({ path, code, message }) => {
    const key = JSON.stringify([path.map(String), code, message]);
    if (reported.has(key)) return false;
    reported.add(key);
    return true;
  });
}

/** Sorts by the position of each path in the document. A missing field has the position of its object. */
function inOrder(issues: readonly LocatedIssue[], document: unknown): LocatedIssue[] {
  const keys = new WeakMap<object, Map<string, number>>();
  const ranksOf = (value: object): Map<string, number> => {
    const ranks = keys.get(value) ?? new Map(Object.keys(value).map((key, index) => [key, index]));
    keys.set(value, ranks);
    return ranks;
  };
  const ranks = new Map(
    issues.map((issue) => {
      const rank: number[] = [];
      let value = document;
      for (const part of issue.path) {
        if (typeof value !== "object" || value === null) break;
        rank.push(ranksOf(value).get(String(part)) ?? -1);
        value = (value as Record<PropertyKey, unknown>)[part];
      }
      return [issue, rank];
    }),
  );
  return issues.toSorted((a, b) => compare(ranks.get(a)!, ranks.get(b)!));
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, rank] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (rank !== other) return rank - other;
  }
  return a.length - b.length;
}
