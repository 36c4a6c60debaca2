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
import type { ListPosition, RunFilter } from "../../src/core/model.ts";
import { nextTurn } from "../../src/core/next-turn.ts";
import type { RecordedRunScope } from "../../src/core/run-expressions.ts";
import type { RunReader, ScannedRun, ScannedText, ScannedValue } from "../../src/core/run-ports.ts";
import { toStepStatus } from "../../src/core/step-states.ts";
import { compareKeys, type CountedGroup, countRun, newGroup, toRunGroup } from "./count-runs.ts";
import type { GroupQuery, NamedExpression, NamedField } from "./group-query.ts";

/** How much a request reads. */
export interface ReadLimits {
  /** Number of runs that are read at a time: a few milliseconds of work. */
  page: number;
  /** Maximum number of runs. */
  runs: number;
}
const LIMITS: ReadLimits = { page: 500, runs: MAX_GROUPED_RUNS };
const LIMITS_WITH_VALUES: ReadLimits = { page: 100, runs: MAX_GROUPED_RUNS_WITH_VALUES };
/** Maximum length of a recorded value that is read, and of all that a request reads, in characters of JSON. */
const MAX_VALUE_CHARS = 262_144;
const MAX_CHARS_TOGETHER = 33_554_432;
/** Maximum work of an expression for one run, and of all of them in a request, in units of 10 ns: 1 ms and 1 s. */
const MAX_WORK = 100_000;
const MAX_WORK_TOGETHER = 100_000_000;
/** Work and characters after which others get their turn: about 10 ms. */
const TURN_WORK = 1_000_000;
const TURN_CHARS = 1_048_576;
/** Maximum length of a value that is shown as what a group has in common, in characters of JSON. */
const MAX_SHOWN_CHARS = 200;

type Missing = NonNullable<RunGroups["without_value"]>[number];

/** What a request has read and counted. */
interface Counting {
  readonly groups: Map<string, CountedGroup>;
  readonly missing: Map<string, Missing>;
  read: number;
  runs: number;
  work: number;
  chars: number;
}

/**
 * Reads the newest runs of a filter, and counts them in groups.
 * @param maxGroups maximum number of groups that are returned: those with the most runs
 */
export async function readGroups(
  { read: { runs }, signal }: { read: { runs: Pick<RunReader, "scan"> }; signal: AbortSignal },
  filter: RunFilter,
  query: GroupQuery,
  maxGroups: number,
  limits?: ReadLimits,
): Promise<RunGroups> {
  const values = valuesOf(query);
  const { page, runs: max } = limits ?? (values.length === 0 ? LIMITS : LIMITS_WITH_VALUES);
  const counting: Counting = { groups: new Map(), missing: new Map(), read: 0, runs: 0, work: 0, chars: 0 };
  let after: ListPosition | null = null;
  let last: string | undefined;
  let turnAt = { work: TURN_WORK, chars: TURN_CHARS };
  const isFull = (): boolean =>
    counting.read >= max || counting.work >= MAX_WORK_TOGETHER || counting.chars >= MAX_CHARS_TOGETHER;
  do {
    await nextTurn();
    if (signal.aborted) break;
    const { items, next } = await runs.scan({
      filter,
      after,
      limit: page,
      values,
      maxChars: MAX_VALUE_CHARS,
    });
    for (const run of items) {
      // Runs that were created in the same millisecond stay together: older ones are those that were created before.
      if (isFull() && run.createdAt !== last) return answerOf(counting, query, maxGroups, last);
      if (counting.work >= turnAt.work || counting.chars >= turnAt.chars) {
        await nextTurn();
        turnAt = { work: counting.work + TURN_WORK, chars: counting.chars + TURN_CHARS };
      }
      count(counting, query, run, values);
      last = run.createdAt;
    }
    after = next;
  } while (after !== null);
  return answerOf(counting, query, maxGroups, after === null ? null : last);
}

/** The recorded values that the expressions read. */
function valuesOf({ where, keys, measures }: GroupQuery): ScannedValue[] {
  const expressions = [...(where === undefined ? [] : [where]), ...keys.filter(isExpression), ...measures];
  const names = new Set(expressions.flatMap(({ expression }) => Array.from(expression.names)));
  const stepIds = new Set(expressions.flatMap(({ expression }) => Array.from(expression.stepIds)));
  return [
    ...(["inputs", "output", "state"] as const).filter((what) => names.has(what)).map((what) => ({ what })),
    ...Array.from(stepIds, (stepId) => ({ what: "step_output" as const, stepId, item: null })),
  ];
}

const isExpression = (key: NamedExpression | NamedField): key is NamedExpression => "expression" in key;

function count(
  counting: Counting,
  { where, keys, measures }: GroupQuery,
  run: ScannedRun,
  values: readonly ScannedValue[],
): void {
  counting.read += 1;
  counting.chars += run.values.reduce((sum, value) => sum + (value?.text.length ?? 0), 0);
  const scope = lazyScope(run, values);
  const evaluate = ({ name, expression }: NamedExpression): { value?: unknown } => {
    const unread = values.flatMap((value, index) =>
      isRead(expression, value) ? (whyUnread(value, run.values[index]) ?? []) : [],
    );
    const result =
      unread.length === 0 ? expression.evaluate(scope(), MAX_WORK) : { message: unread[0]!, cost: 0 };
    counting.work += result.cost;
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

const isRead = ({ names, stepIds }: NamedExpression["expression"], value: ScannedValue): boolean =>
  value.what === "step_output" ? stepIds.has(value.stepId) : names.has(value.what);

/** Why a value of a run can't be read; undefined if it can. */
function whyUnread(value: ScannedValue, read: ScannedText | undefined): string | undefined {
  const name = value.what === "step_output" ? `steps.${value.stepId}` : value.what;
  if (read === undefined) return `The run has no ${name}.`;
  return read.chars > read.text.length
    ? `${name} has ${read.chars} characters of JSON; at most ${MAX_VALUE_CHARS} are read.`
    : undefined;
}

/** The scope of a run, which is made once, when an expression is evaluated. */
function lazyScope(run: ScannedRun, values: readonly ScannedValue[]): () => RecordedRunScope {
  let scope: RecordedRunScope | undefined;
  return () => (scope ??= scopeOf(run, values));
}

function scopeOf(run: ScannedRun, values: readonly ScannedValue[]): RecordedRunScope {
  const steps: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  for (const [index, value] of values.entries()) {
    const read = run.values[index];
    if (read === undefined || read.chars > read.text.length) continue;
    const parsed: unknown = read.text === "" ? {} : JSON.parse(read.text);
    if (value.what === "step_output")
      steps[value.stepId] = {
        ...(parsed as object),
        ...(read.state && { status: toStepStatus(read.state) }),
      };
    else own[value.what] = parsed;
  }
  return { inputs: {}, output: null, ...own, steps, run: fieldsOf(run) };
}

const fieldsOf = (run: ScannedRun): RecordedRunScope["run"] => ({
  id: run.id,
  workflow_id: run.workflowId,
  version: run.version,
  status: run.status,
  trigger: run.trigger,
  created_at: run.createdAt,
  started_at: run.startedAt,
  finished_at: run.finishedAt,
  duration_ms:
    run.startedAt === null || run.finishedAt === null
      ? null
      : Date.parse(run.finishedAt) - Date.parse(run.startedAt),
  error: run.error && {
    code: run.error.code,
    message: run.error.message,
    step_id: run.error.step_id ?? null,
  },
});

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
  { groups, missing, read, runs }: Counting,
  { where, keys }: GroupQuery,
  maxGroups: number,
  readUntil: string | null | undefined,
): RunGroups {
  const names = keys.map(({ name }) => name);
  const all = [...groups.values()];
  const shown = all.toSorted((a, b) => b.runs - a.runs).slice(0, maxGroups);
  const left = runs - shown.reduce((sum, group) => sum + group.runs, 0);
  const next = [
    ...(readUntil === null || readUntil === undefined
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
