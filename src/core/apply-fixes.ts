/** Applies the patches of issues to a definition until none helps any more. */
import type { AppliedFix, Issue, JsonPatchOperation } from "../../schemas/problem.ts";
import { applyJsonPatch, JsonPatchError } from "./json-patch.ts";

/** Maximum number of rounds: fixed issues may bring others to light. */
const MAX_ROUNDS = 10;

export interface Fixed<R> {
  /** The report on the definition after all fixes. */
  report: R;
  applied: AppliedFix[];
}

interface Checked {
  errors: readonly Issue[];
  /** Null when the source could not be parsed. */
  definition: Record<string, unknown> | null;
}

/**
 * Checks a definition and applies the patches of its issues, as long as the issues that they belong to disappear.
 * @param source an object, or YAML or JSON text
 * @param check gets the fixes that were applied to its source
 */
export async function applyFixes<R extends Checked>(
  source: unknown,
  check: (source: unknown, applied: readonly AppliedFix[]) => Promise<R>,
): Promise<Fixed<R>> {
  let report = await check(source, []);
  const applied: AppliedFix[] = [];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { definition, errors } = report;
    const fixable = definition === null ? [] : errors.filter(({ patch }) => patch !== undefined);
    const next = await nextReport(definition, fixable, (changed, fixes) =>
      check(changed, [...applied, ...fixes]),
    );
    if (next === undefined) break;
    report = next.report;
    applied.push(...next.applied);
  }
  return { report, applied };
}

/** Applies all patches together, or else the first that helps. */
async function nextReport<R extends Checked>(
  definition: unknown,
  fixable: readonly Issue[],
  check: (source: unknown, applied: readonly AppliedFix[]) => Promise<R>,
): Promise<Fixed<R> | undefined> {
  const batches = [
    fixable,
    ...(fixable.length > 1 ? fixable.slice(0, MAX_ROUNDS).map((issue) => [issue]) : []),
  ];
  for (const batch of batches) {
    const { changed, issues } = applyAll(definition, batch);
    if (issues.length === 0) continue;
    const applied = appliedFixes(issues);
    const report = await check(changed, applied);
    if (
      report.definition !== null &&
      issues.every((issue) => !report.errors.some((other) => isSame(issue, other)))
    )
      return { report, applied };
  }
  return undefined;
}

/** Lists each patch once, so that they can be applied again in turn. */
function appliedFixes(issues: readonly Issue[]): AppliedFix[] {
  const byPatch = new Map(issues.toReversed().map((issue) => [JSON.stringify(issue.patch), issue]));
  return issues
    .filter((issue) => byPatch.get(JSON.stringify(issue.patch)) === issue)
    .map(({ path, message, patch }) => ({ path, message, patch: patch! }));
}

const isSame = (a: Issue, b: Issue): boolean =>
  a.path === b.path && a.code === b.code && a.message === b.message;

/** Applies the patches that touch different places; the others wait for the next round. */
function applyAll(definition: unknown, issues: readonly Issue[]): { changed: unknown; issues: Issue[] } {
  let changed = definition;
  const touched: string[] = [];
  const patches = new Set<string>();
  const applied: Issue[] = [];
  for (const issue of issues) {
    const patch = issue.patch!;
    const key = JSON.stringify(patch);
    const isRepeated = patches.has(key);
    const places = patch.flatMap(placesOf);
    if (!isRepeated && places.some((place) => touched.some((other) => overlap(place, other)))) continue;
    try {
      if (!isRepeated) changed = applyJsonPatch(changed, patch);
    } catch (error) {
      if (!(error instanceof JsonPatchError)) throw error;
      continue;
    }
    patches.add(key);
    touched.push(...places);
    applied.push(issue);
  }
  return { changed, issues: applied };
}

/** The places that an operation changes. If it shifts the items of a list, that is the whole list. */
function placesOf({ op, path, from }: JsonPatchOperation): string[] {
  const parent = path.slice(0, path.lastIndexOf("/"));
  const isItem = /\/(?:\d+|-)$/.test(path) && op !== "replace";
  return [isItem ? parent : path, ...(from === undefined ? [] : [/\/\d+$/.test(from) ? parent : from])];
}

const overlap = (a: string, b: string): boolean => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
