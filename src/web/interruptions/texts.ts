/** What the pages say of interruptions. */
import type { Interruption, InterruptionOutcome, InterruptionReason } from "../../../schemas/interruption.ts";
import type { Run, StepStatus } from "../../../schemas/run.ts";
import { pluralize } from "../runs/labels.ts";
import { hasEnded } from "../runs/live-updates.ts";

export const REASON_TEXTS: Readonly<Record<InterruptionReason, string>> = {
  executor_ended: "The executor ended before an answer came.",
  timeout: "The time limit passed before an answer came.",
  connection_lost: "The connection broke after the request was sent.",
  cancelled: "The run was stopped before an answer came.",
};

/** The choices of the form, in its order. */
export const OUTCOME_LABELS: Readonly<Record<InterruptionOutcome, string>> = {
  happened: "It happened",
  not_happened: "It did not happen",
  unknown: "Nobody can say",
};

/**
 * What the answer is for: a run that waits for it, one that continues without it, or one that has ended. `superseded`: for nothing
 * but the record, because a later attempt succeeded or was interrupted too.
 */
export type RunState = "waiting" | "superseded" | "active" | "ended";

/** @param stepStatus the status of the step or item; undefined until it is loaded */
export function runStateOf(
  interruption: Interruption,
  { status, interruptions = [] }: Pick<Run, "status" | "interruptions">,
  stepStatus: StepStatus | undefined,
): RunState {
  if (interruption.waiting) return "waiting";
  const isSuperseded = interruptions.some(
    (other) => placeText(other) === placeText(interruption) && other.attempt > interruption.attempt,
  );
  if (isSuperseded || stepStatus === "succeeded") return "superseded";
  return hasEnded({ status }) ? "ended" : "active";
}

export const RUN_STATE_TEXTS: Readonly<Record<RunState, string>> = {
  waiting: "The run waits until somebody answers.",
  superseded: "A later attempt followed.",
  active: "The run continues.",
  ended: "The run has ended.",
};

const RECORDED = "Your answer is recorded. A later attempt decides what follows.";

/** What follows from each outcome. */
export const CONSEQUENCES: Readonly<Record<RunState, Readonly<Record<InterruptionOutcome, string>>>> = {
  waiting: {
    happened: "The step ends with the output that you enter. Nothing is sent again.",
    not_happened: "The step is sent again, with the same idempotency key.",
    unknown: "The step fails.",
  },
  superseded: {
    happened: `${RECORDED} The effect may have happened twice.`,
    not_happened: RECORDED,
    unknown: RECORDED,
  },
  active: {
    happened: "If this step starts again, it ends with the output that you enter. Nothing is sent again.",
    not_happened: "If this step starts again, it is sent again.",
    unknown: "If this step starts again in this run, it fails.",
  },
  ended: {
    happened: "A retry of the run takes the output that you enter. Nothing is sent again.",
    not_happened: "A retry of the run sends it again.",
    unknown: "A retry of the run sends it again, so it may happen twice.",
  },
};

type Place = Pick<Interruption, "step_id" | "item">;

/** `pay`, or `pay, item 17`. */
export const placeText = ({ step_id: step, item }: Place): string =>
  item === undefined ? step : `${step}, item ${item}`;

/** "Did the effect of `pay` happen?" */
export const questionText = ({ step_id: step, item }: Place): string =>
  `Did the effect of \`${step}\`${item === undefined ? "" : `, item ${item},`} happen?`;

/** The page of the run, with the step selected. */
export const pathOf = ({ run_id: run, step_id: step, item }: Place & { run_id: string }): string =>
  `/runs/${run}?${new URLSearchParams({ step, ...(item !== undefined && { item: String(item) }) }).toString()}`;

/** The label of the mark in lists of runs. */
export const openText = (count: number): string =>
  `${pluralize(count, "open interruption")}: nobody knows whether ${count === 1 ? "its effect" : "their effects"} happened`;

/** Interruptions for which the run waits come first. */
export const waitingFirst = (interruptions: readonly Interruption[]): Interruption[] =>
  interruptions.toSorted((a, b) => Number(b.waiting) - Number(a.waiting));

/**
 * An output to fill in, with the fields of the type of the step.
 * @param type the type as `GET /environment` writes it: `{rows: [{…: any}], row_count: number}`
 */
export function outputTemplate(type: string): Record<string, null> {
  let fields = /^\{(.*)\}/.exec(type)?.[1] ?? "";
  // What is inside of a field goes first, from the innermost outwards.
  while (INNERMOST.test(fields)) fields = fields.replaceAll(INNERMOST, "");
  const names = fields.split(",").map((field) => field.split(":", 1)[0]!.trim());
  return Object.fromEntries(names.filter((name) => /^\w+$/.test(name)).map((name) => [name, null]));
}

/** A list or an object without others in it. */
const INNERMOST = /\[[^[\]{}]*\]|\{[^[\]{}]*\}/g;
