/** What a timeline draws: when each step worked, waited, and paused between attempts; and the axis under it. */
import type { RunStep, StepStatus } from "../../../schemas/run.ts";

/** `pausing`: between an attempt and the next. */
export type Activity = "working" | "waiting" | "pausing";

interface Segment {
  activity: Activity;
  /** Milliseconds since 1970, as all moments here. */
  from: number;
  to: number;
  /** How the attempt went, or the step where its attempts are not known. */
  status: StepStatus;
}

export interface Bar {
  from: number;
  to: number;
  /** It goes on: `to` is now. */
  ongoing: boolean;
  /** One after the other, without a gap, from its beginning to its end. */
  segments: readonly Segment[];
}

/** Steps of these types do nothing themselves: their time is waiting for a moment, a person, another run. */
const WAITING_TYPES: ReadonlySet<string> = new Set(["wait", "approval", "workflow"]);

/** The bar of a step; null where it has not begun. */
export function buildBar(step: RunStep, now: number): Bar | null {
  const attempts = (step.attempt_list ?? []).toSorted((a, b) => a.attempt - b.attempt);
  // The step itself knows only when its last attempt began.
  const begun = attempts[0]?.started_at ?? step.started_at;
  if (begun === null) return null;
  const from = Date.parse(begun);
  const ongoing = step.finished_at === null && !isFinal(step.status);
  const recorded = step.finished_at ?? attempts.at(-1)?.finished_at ?? begun;
  const end = Math.max(from, ongoing ? now : Date.parse(recorded));
  const activity: Activity =
    WAITING_TYPES.has(step.type) || step.status === "waiting" ? "waiting" : "working";
  if (attempts.length === 0)
    return { from, to: end, ongoing, segments: [{ activity, from, to: end, status: step.status }] };
  const segments: Segment[] = [];
  let at = from;
  const pauseUntil = (to: number) => {
    if (to > at) segments.push({ activity: "pausing", from: at, to, status: "pending" });
    at = Math.max(at, to);
  };
  for (const { status, started_at: started, finished_at: finished } of attempts) {
    // Executors' clocks differ a little: an attempt is never drawn over the one before, nor beyond the step.
    pauseUntil(Math.min(end, Date.parse(started)));
    const to = finished === null ? end : Math.min(end, Math.max(at, Date.parse(finished)));
    segments.push({ activity, from: at, to, status: attemptLook(status, step.status) });
    at = to;
  }
  pauseUntil(end);
  return { from, to: end, ongoing, segments };
}

const isFinal = (status: StepStatus): boolean =>
  status === "succeeded" || status === "failed" || status === "skipped" || status === "cancelled";

/** An attempt that an executor left behind failed; one that runs does what its step does. */
function attemptLook(
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

/** From the beginning of the run, or of what is earliest, to its end, or now, or what is latest. Never empty. */
export function timeRangeOf(
  bars: readonly (Bar | null)[],
  startedAt: string | null,
  finishedAt: string | null,
  now: number,
): TimeRange {
  const started = startedAt === null ? Infinity : Date.parse(startedAt);
  const from = bars.reduce((least, bar) => Math.min(least, bar?.from ?? Infinity), started);
  if (from === Infinity) return { from: now, to: now + 1_000 };
  const ended = finishedAt === null ? now : Date.parse(finishedAt);
  const to = bars.reduce((most, bar) => Math.max(most, bar?.to ?? from), ended);
  return { from, to: Math.max(to, from + 1) };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const NICE = [
  [1, 2, 5, 10, 20, 50, 100, 200, 500],
  [1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  [1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  [1, 2, 3, 6, 12].map((n) => n * HOUR),
].flat();

/** Round lengths of time from 0 on, at most so many of them, up to what is shown. */
export function axisTicks(length: number, most: number): number[] {
  const least = length / most;
  const step = NICE.find((size) => size >= least) ?? niceDays(least / DAY) * DAY;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, tick) => tick * step);
}

/** 1, 2, 5, 10, 20, 50, … days. */
function niceDays(days: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, days)));
  return power * ([1, 2, 5].find((n) => n * power >= days) ?? 10);
}

/** A tick of the axis, short: "0", "250 ms", "1 min 30 s", "2 h". */
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
