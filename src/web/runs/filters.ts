/** The filters of the run list as they stand in its address, and as the API takes them. */
import type { RunStatus, RunTrigger } from "../../../schemas/run.ts";
import { TRIGGER_LABELS } from "./labels.ts";

export interface RunFilters {
  workflow?: string;
  status: RunStatus[];
  trigger?: RunTrigger;
  /** A day where the reader is (2026-11-21), or a moment in full. */
  since?: string;
  /** A day, which is still in; or a moment. */
  until?: string;
}

export const RUN_STATUSES: readonly RunStatus[] = [
  "running",
  "waiting",
  "queued",
  "failed",
  "succeeded",
  "cancelled",
];

const isStatus = (word: string): word is RunStatus => (RUN_STATUSES as readonly string[]).includes(word);
const isTrigger = (word: string | null): word is RunTrigger =>
  word !== null && Object.hasOwn(TRIGGER_LABELS, word);
const isMoment = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text));
export const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);

/** What the address asks for. Words that mean nothing are passed over. */
export function readFilters(params: URLSearchParams): RunFilters {
  const workflow = params.get("workflow") ?? "";
  const [trigger, since, until] = [params.get("trigger"), params.get("since"), params.get("until")];
  return {
    ...(workflow !== "" && { workflow }),
    status: (params.get("status") ?? "").split(",").filter(isStatus),
    ...(isTrigger(trigger) && { trigger }),
    ...(isMoment(since) && { since }),
    ...(isMoment(until) && { until }),
  };
}

export function writeFilters({ workflow, status, trigger, since, until }: RunFilters): URLSearchParams {
  const words = { workflow, status: status.join(","), trigger, since, until };
  return new URLSearchParams(
    Object.entries(words).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "",
    ),
  );
}

export const isFiltered = (filters: RunFilters): boolean => writeFilters(filters).size > 0;

/** As GET /runs takes it. To the API a day begins in UTC; to a reader where they are, so moments are sent. */
export function toQuery({ workflow, status, trigger, since, until }: RunFilters) {
  return {
    ...(workflow !== undefined && { workflow_id: workflow }),
    ...(status.length > 0 && { status }),
    ...(trigger !== undefined && { trigger }),
    ...(since !== undefined && { since: isDay(since) ? startOf(since, 0) : since }),
    ...(until !== undefined && { until: isDay(until) ? startOf(until, 1) : until }),
  };
}

/** Midnight where the reader is. */
function startOf(day: string, daysLater: number): string {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year!, month! - 1, date! + daysLater).toISOString();
}
