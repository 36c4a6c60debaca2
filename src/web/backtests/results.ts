/** What the pages say about the results of backtests. */
import type {
  Backtest,
  BacktestDifference,
  BacktestResult,
  NotComparable,
} from "../../../schemas/backtest.ts";
import { pluralize } from "../runs/labels.ts";

type Counts = Backtest["runs"];

/** In the order in which the pages show them. */
export const RESULTS: readonly BacktestResult[] = ["equal", "different", "failing", "not_comparable"];

export const RESULT_LABELS: Readonly<Record<BacktestResult, string>> = {
  equal: "equal",
  different: "different",
  failing: "failing",
  not_comparable: "not comparable",
};

export const RESULT_COLORS: Readonly<Record<BacktestResult, string>> = {
  equal: "green",
  different: "orange",
  failing: "red",
  not_comparable: "gray",
};

const REASONS: Readonly<Record<NotComparable, string>> = {
  new_step: "new step",
  changed_read: "changed read",
  failed_before: "failed before",
  stopped: "stopped",
  purged: "purged",
  undo_changed: "changed undo",
};

const isResult = (word: string): word is BacktestResult => (RESULTS as readonly string[]).includes(word);

/** Reads the filter of the URL, `?result=different`. An unknown word is ignored; undefined means all. */
export const readResult = (params: URLSearchParams): BacktestResult | undefined => {
  const word = params.get("result") ?? "";
  return isResult(word) ? word : undefined;
};

/** "198 equal, 2 different, 0 failing, 0 not comparable", and the pending ones if there are any. */
export const describeCounts = (counts: Counts): string =>
  [
    ...RESULTS.map((result) => `${counts[result].toLocaleString()} ${RESULT_LABELS[result]}`),
    ...(counts.pending > 0 ? [`${counts.pending.toLocaleString()} pending`] : []),
  ].join(", ");

/** "version 3", or what a draft is based on. */
export const describeSubject = ({ version, draft }: Pick<Backtest, "version" | "draft">): string =>
  draft === true ? `draft based on version ${version}` : `version ${version}`;

/** "5 changed read, 2 stopped": why runs are not comparable; undefined when all are. */
export function describeReasons(reasons: NonNullable<Backtest["reasons"]>): string | undefined {
  const parts = Object.entries(reasons).map(
    ([reason, count]) => `${count.toLocaleString()} ${REASONS[reason as NotComparable]}`,
  );
  return parts.length === 0 ? undefined : parts.join(", ");
}

/** Why a run is not comparable, in two words; undefined for the other results. */
export const reasonLabel = (difference: BacktestDifference | undefined): string | undefined =>
  difference?.reason === undefined ? undefined : REASONS[difference.reason];

/** Where a run and its replay first part: `revenue`, `send, item 3`; undefined when it is no step. */
export const describeStep = ({ step, item }: BacktestDifference): string | undefined =>
  step === undefined || item === undefined ? step : `${step}, item ${item}`;

/** A value of a difference, as JSON, which shows 41 and "41" as different; `none` where there is none. */
export const formatDifferenceValue = (value: unknown): string =>
  value === undefined ? "none" : JSON.stringify(value);

/** What changes of a definition that no run of the past can show. */
const UNSEEN: Readonly<Record<string, string>> = {
  schedule: "its schedule",
  triggers: "its webhooks",
  inputs: "its inputs",
  state: "its state",
  timeout: "its timeout",
  concurrency: "how many of its runs may run at a time",
  must_succeed: "its alert for runs that do not succeed",
  on_failure: "which workflow runs after a failure",
  expose_as_tool: "whether agents get it as a tool",
  tool_name: "the name of its tool",
};

const unseen = (what: string): string => `No past run can show this change: ${what}`;

/** What the name of a difference stands for, where it does not say it itself; undefined otherwise. */
export function describeDifference(name: string): string | undefined {
  const [what, part, more] = name.split(".");
  switch (what) {
    case "error":
      return `Runs fail with this version${part === undefined ? "" : `: ${part}`}`;
    case "status":
      return "Failed runs would succeed";
    case "on_failure":
      return "Another workflow runs after a failure";
    case "committed":
      return "The saved state would be another one";
    case "given":
      return part === undefined
        ? "Nobody knows what steps return: the backtest was given their outputs"
        : `Nobody knows what ${part} returns: the backtest was given its output`;
    case "not_comparable":
      return describeReason(part);
    case "definition":
      return describeUnseen(part, more);
    case "steps":
      return describeEffects(part, more);
    default:
      return undefined;
  }
}

function describeReason(reason: string | undefined): string {
  if (reason === undefined) return "No run could be compared";
  if (reason === "interrupted")
    return "Replays were cancelled; to test these runs again, close this and publish again";
  if (reason === "runs_of_drafts")
    return "Too few of the newest 10,000 runs are of published versions; the others are runs of drafts";
  if (reason === "unnamed") return "An older release compared some runs, and named nothing that differs";
  const why = REASONS[reason as NotComparable] as string | undefined;
  return `Some runs could not be compared${why === undefined ? "" : `: ${why}`}`;
}

function describeUnseen(field: string | undefined, part: string | undefined): string {
  if (field === "backtest") return "Its own rule allows more than that of now, from the next publication on";
  return unseen(
    field === "inputs" && part !== undefined
      ? `its input ${part}`
      : (UNSEEN[field ?? ""] ?? "a part of its definition"),
  );
}

function describeEffects(step: string | undefined, change: string | undefined): string {
  if (step === undefined) return "What steps send or write changes; this covers all of it";
  switch (change) {
    case undefined:
      return `What \`${step}\` sends or writes changes; this covers all of it`;
    case "added":
      return `What \`${step}\` does is new in some runs`;
    case "removed":
      return `\`${step}\` would no longer do it in some runs`;
    case "undo":
      return unseen(`what undoes \`${step}\``);
    default:
      return `What \`${step}\` sends or writes changes`;
  }
}

/** The id of the backtest that the message of a refusal names; undefined where there were no runs. */
export const namedBacktest = (message: string): string | undefined =>
  /\bbacktest (bt_[\w-]+)/.exec(message)?.[1];

/** Numbers of a before and an after, with what changed in percent: "1,200 → 800 (−33 %)". */
export function describeAmount(
  { before, after }: { before: number; after: number },
  format: (amount: number) => string,
): string {
  const change = before === 0 ? 0 : Math.round(((after - before) / before) * 100);
  const percent = change === 0 ? "" : ` (${change > 0 ? "+" : "−"}${Math.abs(change).toLocaleString()} %)`;
  return `${format(before)} → ${format(after)}${percent}`;
}

/** A sentence about the results, for people who don't see the chart; runs are counted from the oldest, from 1. */
export function describeMarks(results: readonly (BacktestResult | null)[]): string {
  const others = results.flatMap((result, index) =>
    result === null || result === "equal" ? [] : [`${index + 1} ${RESULT_LABELS[result]}`],
  );
  const shown = others.slice(0, MAX_NAMED).join(", ");
  const rest = others.length - MAX_NAMED;
  const equal = results.filter((result) => result === "equal").length;
  return [
    `Results of ${pluralize(results.length, "run")}, the oldest first: ${equal.toLocaleString()} equal.`,
    ...(others.length > 0 ? [`Number ${shown}${rest > 0 ? ` and ${rest.toLocaleString()} more` : ""}.`] : []),
  ].join(" ");
}

/** Number of runs that the text of the chart names. */
const MAX_NAMED = 20;
