/** The bars of a timeline, which show when each step ran, waited, and backed off between attempts; and the axis. */
import type { RunStep, StepStatus } from "../../../schemas/run.ts";
import { isWaitingStepType } from "../../../schemas/waiting-step-types.ts";

/** `backoff`: between an attempt and the next. */
export type Activity = "running" | "waiting" | "backoff";

interface Segment {
  activity: Activity;
  /** Milliseconds since 1970, as all times here. */
  from: number;
  to: number;
  /** Status of the attempt, or of the step when its attempts are unknown. */
  status: StepStatus;
}

export interface Bar {
  from: number;
  to: number;
  /** The step has not ended: `to` is now. */
  ongoing: boolean;
  /** Consecutive, without gaps, from `from` to `to`. */
  segments: readonly Segment[];
  /** The part of the items of a fan-out that have failed, from 0 to 1. The segments of a loop show its failed iterations. */
  failedPart: number;
}

/** @returns null when the step has not started */
export function buildBar(step: RunStep, now: number): Bar | null {
  const bar = buildSegments(step, now);
  return bar === null ? null : { ...bar, failedPart: failedPartOf(step) };
}

const failedPartOf = ({ items }: RunStep): number =>
  items === undefined || items.max !== undefined || items.total === 0 ? 0 : items.failed / items.total;

function buildSegments(step: RunStep, now: number): Omit<Bar, "failedPart"> | null {
  const attempts = (step.attempt_list ?? []).toSorted((a, b) => a.attempt - b.attempt);
  // The step itself only stores the start of its last attempt, unless it runs several times.
  const started = (step.items === undefined ? attempts[0]?.started_at : undefined) ?? step.started_at;
  if (started === null) return null;
  const from = Date.parse(started);
  const ongoing = step.finished_at === null && !isFinal(step.status);
  const recorded = step.finished_at ?? attempts.at(-1)?.finished_at ?? started;
  const end = Math.max(from, ongoing ? now : Date.parse(recorded));
  const activity: Activity =
    isWaitingStepType(step.type) || step.status === "waiting" ? "waiting" : "running";
  const iterations = step.items?.max === undefined ? [] : (step.item_list ?? []);
  if (iterations.length > 0)
    return { from, to: end, ongoing, segments: iterationSegments(iterations, activity, { from, to: end }) };
  if (attempts.length === 0)
    return { from, to: end, ongoing, segments: [{ activity, from, to: end, status: step.status }] };
  const segments: Segment[] = [];
  let at = from;
  const backOffUntil = (to: number) => {
    if (to > at) segments.push({ activity: "backoff", from: at, to, status: "pending" });
    at = Math.max(at, to);
  };
  for (const { status, started_at: attemptStart, finished_at: finished } of attempts) {
    // Executors' clocks differ a little, so attempts are clipped to the end of the previous one and of the step.
    backOffUntil(Math.min(end, Date.parse(attemptStart)));
    const to = finished === null ? end : Math.min(end, Math.max(at, Date.parse(finished)));
    segments.push({ activity, from: at, to, status: segmentStatus(status, step.status) });
    at = to;
  }
  backOffUntil(end);
  return { from, to: end, ongoing, segments };
}

/** One segment for each of the last iterations, with the pauses between them; those before are one segment. */
function iterationSegments(
  iterations: NonNullable<RunStep["item_list"]>,
  activity: Activity,
  { from, to: end }: TimeRange,
): Segment[] {
  const segments: Segment[] = [];
  let at = from;
  const add = (to: number, segment: Pick<Segment, "activity" | "status">): void => {
    if (to > at) segments.push({ ...segment, from: at, to });
    at = Math.max(at, to);
  };
  for (const [index, { item, status, started_at: started, finished_at: finished }] of iterations.entries()) {
    if (started === null) continue;
    const start = Math.min(end, Date.parse(started));
    // The iterations before the first one of the list are not loaded.
    const isEarlier = index === 0 && item > 0;
    add(start, isEarlier ? { activity, status: "succeeded" } : PAUSE);
    add(finished === null ? end : Math.min(end, Date.parse(finished)), { activity, status });
  }
  add(end, PAUSE);
  return segments;
}

/** Between two iterations. */
const PAUSE = { activity: "waiting", status: "pending" } as const;

const isFinal = (status: StepStatus): boolean =>
  status === "succeeded" || status === "failed" || status === "skipped" || status === "cancelled";

/** An interrupted attempt is drawn as failed, and the running attempt of a waiting step as waiting. */
function segmentStatus(
  status: NonNullable<RunStep["attempt_list"]>[number]["status"],
  step: StepStatus,
): StepStatus {
  if (status === "interrupted") return "failed";
  return status === "running" && step === "waiting" ? "waiting" : status;
}

export interface TimeRange {
  from: number;
  to: number;
}

/** The time range that covers the run and all bars; a run without an end extends to `now`. Never empty. */
export function timeRangeOf(
  bars: readonly (Bar | null)[],
  startedAt: string | null,
  finishedAt: string | null,
  now: number,
): TimeRange {
  const started = startedAt === null ? Infinity : Date.parse(startedAt);
  const from = bars.reduce((earliest, bar) => Math.min(earliest, bar?.from ?? Infinity), started);
  if (from === Infinity) return { from: now, to: now + 1_000 };
  const ended = finishedAt === null ? now : Date.parse(finishedAt);
  const to = bars.reduce((latest, bar) => Math.max(latest, bar?.to ?? from), ended);
  return { from, to: Math.max(to, from + 1) };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Tick distances up to half a day, in milliseconds. */
const TICK_STEPS = [
  [1, 2, 5, 10, 20, 50, 100, 200, 500],
  [1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  [1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  [1, 2, 3, 6, 12].map((n) => n * HOUR),
].flat();

/**
 * @param length of the axis, in milliseconds
 * @param maxTicks not counting the tick at 0
 * @returns round times from 0 to `length`, in milliseconds
 */
export function axisTicks(length: number, maxTicks: number): number[] {
  const minStep = length / maxTicks;
  const step = TICK_STEPS.find((size) => size >= minStep) ?? roundDays(minStep / DAY) * DAY;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, tick) => tick * step);
}

/** 1, 2, 5, 10, 20, 50, … days. */
function roundDays(days: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, days)));
  return power * ([1, 2, 5].find((n) => n * power >= days) ?? 10);
}

/** Label of a tick: "0", "250 ms", "1 min 30 s", "2 h". */
export function tickLabel(ms: number): string {
  if (ms === 0) return "0";
  if (ms < SECOND) return `${ms} ms`;
  const parts = [
    [Math.floor(ms / DAY), "d"],
    [Math.floor((ms % DAY) / HOUR), "h"],
    [Math.floor((ms % HOUR) / MINUTE), "min"],
    [(ms % MINUTE) / SECOND, "s"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}
