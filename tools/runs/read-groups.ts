/** Reads the runs of a filter in parts, and counts them in groups. */
import { createHash } from "node:crypto";
import {
  MAX_GROUPED_RUNS,
  MAX_GROUPED_RUNS_WITH_VALUES,
  type RunGroup,
  type RunGroups,
} from "../../schemas/run-groups.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import { canonicalDigits, isExactNumber } from "../../src/core/long-number-arithmetic.ts";
import type { RunFilter } from "../../src/core/model.ts";
import { nextTurnIfUsedUp } from "../../src/core/next-turn.ts";
import type { ScannedRun, ScannedValue } from "../../src/core/run-ports.ts";
import { compareKeys, type CountedGroup, countRun, newGroup, toRunGroup } from "./count-runs.ts";
import { runEvaluator, valuesReadBy } from "./evaluate-run.ts";
import type { GroupQuery, NamedExpression, NamedField } from "./group-query.ts";
import { addRead, isUsedUp, newBudget, type ReadBudget, type ScanContext, scanInParts } from "./scan-runs.ts";

/** How much a request reads. */
export interface ReadLimits {
  /** Number of runs that are read at a time. */
  part: number;
  /** Maximum number of runs. */
  runs: number;
  /** Maximum number of groups that are counted: 5 MB. */
  groups: number;
}
const LIMITS: ReadLimits = { part: 500, runs: MAX_GROUPED_RUNS, groups: 10_000 };
const LIMITS_WITH_VALUES: ReadLimits = { ...LIMITS, part: 100, runs: MAX_GROUPED_RUNS_WITH_VALUES };
/** Maximum length of a value that is shown as what a group has in common, in characters of JSON. */
const MAX_SHOWN_CHARS = 200;

type Missing = NonNullable<RunGroups["without_value"]>[number];

/** What a request has counted. */
interface Counting {
  readonly budget: ReadBudget;
  readonly groups: Map<string, CountedGroup>;
  readonly missing: Map<string, Missing>;
  runs: number;
}

/**
 * Reads the newest runs of a filter, and counts them in groups.
 * @param maxGroups maximum number of groups that are returned: those with the most runs
 */
export async function readGroups(
  context: ScanContext,
  filter: RunFilter,
  query: GroupQuery,
  maxGroups: number,
  limits?: ReadLimits,
): Promise<RunGroups> {
  const { where, keys, measures } = query;
  const values = valuesReadBy(
    [...(where === undefined ? [] : [where]), ...keys.filter(isExpression), ...measures].map(
      ({ expression }) => expression,
    ),
  );
  const { part, runs, groups } = limits ?? (values.length === 0 ? LIMITS : LIMITS_WITH_VALUES);
  const counting: Counting = { budget: newBudget(runs), groups: new Map(), missing: new Map(), runs: 0 };
  let last: string | undefined;
  for await (const { items } of scanInParts(context, { filter, after: null, values, part }))
    for (const run of items) {
      // Runs that were created in the same millisecond stay together: older ones are those that were created before.
      if ((isUsedUp(counting.budget) || counting.groups.size >= groups) && run.createdAt !== last)
        return answerOf(counting, query, maxGroups, last!);
      await nextTurnIfUsedUp();
      count(counting, query, run, values);
      last = run.createdAt;
    }
  return answerOf(counting, query, maxGroups, null);
}

const isExpression = (key: NamedExpression | NamedField): key is NamedExpression => "expression" in key;

function count(
  counting: Counting,
  { where, keys, measures }: GroupQuery,
  run: ScannedRun,
  values: readonly ScannedValue[],
): void {
  addRead(counting.budget, run);
  const evaluator = runEvaluator(run, values);
  const evaluate = ({ name, expression }: NamedExpression): { value?: unknown } => {
    const result = evaluator(expression);
    counting.budget.work += result.cost;
    if ("value" in result) return result;
    const missing = counting.missing.get(name);
    if (missing !== undefined) missing.runs += 1;
    else counting.missing.set(name, { expression: name, runs: 1, run_id: run.id, message: result.message });
    return {};
  };
  if (where !== undefined && evaluate(where).value !== true) return;
  counting.runs += 1;
  const found = keys.map((key) => (isExpression(key) ? evaluate(key).value : key.valueOf(run)));
  const id = found.map((value) => idOf(value)).join(" ");
  const group = counting.groups.get(id) ?? newGroup(found.map(toShown), run);
  counting.groups.set(id, group);
  countRun(group, run, new Map(measures.map((measure) => [measure.name, evaluate(measure).value])));
}

/** A text that equal values share, and no others. */
function idOf(value: unknown): string {
  if (value === undefined) return "";
  const json = isExactNumber(value) ? canonicalDigits(value) : canonicalJson(value);
  return json.length <= MAX_SHOWN_CHARS ? json : createHash("sha256").update(json).digest("base64");
}

/** A value as a group shows it. */
function toShown(value: unknown): unknown {
  if (value === undefined) return undefined;
  const json = JSON.stringify(value);
  return json.length <= MAX_SHOWN_CHARS
    ? value
    : { truncated: true, chars: json.length, preview: json.slice(0, MAX_SHOWN_CHARS).toWellFormed() };
}

/** @param readUntil when the oldest run was created that was read, if older ones were not; null if all were */
function answerOf(
  { budget: { read }, groups, missing, runs }: Counting,
  { where, keys }: GroupQuery,
  maxGroups: number,
  readUntil: string | null,
): RunGroups {
  const names = keys.map(({ name }) => name);
  const all = [...groups.values()];
  const shown = all.toSorted((a, b) => b.runs - a.runs).slice(0, maxGroups);
  const left = runs - shown.reduce((sum, group) => sum + group.runs, 0);
  const next = [
    ...(readUntil === null
      ? []
      : [
          `Only the newest ${read} runs were read. For older ones send until: "${readUntil}", or a narrower filter.`,
        ]),
    ...(all.length > maxGroups
      ? [
          `These are the ${maxGroups} groups with the most runs, of ${all.length}: ${left} runs are in the others. Send a higher max_groups, or where.`,
        ]
      : []),
  ];
  return {
    groups: shown
      .toSorted((a, b) => compareKeys(a.keys, b.keys))
      .map((group): RunGroup => toRunGroup(group, names)),
    total: all.length,
    runs,
    read,
    complete: readUntil === null,
    ...(where !== undefined &&
      where.name.trim() !== where.expression.source && { where: where.expression.source }),
    ...(missing.size > 0 && { without_value: [...missing.values()] }),
    ...(next.length > 0 && { next: next.join(" ") }),
  };
}
