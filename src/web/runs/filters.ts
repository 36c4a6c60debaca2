/** The filters of the run list: parsed from the URL, and converted to the parameters of GET /runs. */
import type { RunStatus, RunTrigger } from "../../../schemas/run-status.ts";
import { searchIssue } from "../workflows/filters.ts";
import { TRIGGER_LABELS } from "./labels.ts";

export interface RunFilters {
  workflow?: string;
  /** Only runs that this backfill of the workflow started. */
  backfill?: string;
  status: RunStatus[];
  trigger?: RunTrigger;
  /** A day in the local time zone (2026-11-21), or a timestamp. */
  since?: string;
  /** The last day, inclusive; or a timestamp. */
  until?: string;
  /** Words of the id, inputs, output or error. */
  search?: string;
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
const isTimestamp = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text));
export const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);

/** Parses the URL. Unknown values are ignored. */
export function readFilters(params: URLSearchParams): RunFilters {
  const workflow = params.get("workflow") ?? "";
  const backfill = params.get("backfill") ?? "";
  const [trigger, since, until] = [params.get("trigger"), params.get("since"), params.get("until")];
  const search = (params.get("search") ?? "").trim();
  return {
    ...(workflow !== "" && { workflow }),
    ...(workflow !== "" && backfill !== "" && { backfill }),
    status: (params.get("status") ?? "").split(",").filter(isStatus),
    ...(isTrigger(trigger) && { trigger }),
    ...(isTimestamp(since) && { since }),
    ...(isTimestamp(until) && { until }),
    ...(search !== "" && searchIssue(search) === undefined && { search }),
  };
}

export function writeFilters(filters: RunFilters): URLSearchParams {
  const { workflow, backfill, status, trigger, since, until, search } = filters;
  const values = { workflow, backfill, status: status.join(","), trigger, since, until, search };
  return new URLSearchParams(
    Object.entries(values).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "",
    ),
  );
}

export const isFiltered = (filters: RunFilters): boolean => writeFilters(filters).size > 0;

/** The parameters of GET /runs, without `backfill`, which only the list of a workflow takes. The API reads a day in UTC, so local days are sent as timestamps. */
export function toQuery({ workflow, status, trigger, since, until, search }: RunFilters) {
  return {
    ...(search !== undefined && { search }),
    ...(workflow !== undefined && { workflow_id: workflow }),
    ...(status.length > 0 && { status }),
    ...(trigger !== undefined && { trigger }),
    ...(since !== undefined && { since: isDay(since) ? startOfDay(since, 0) : since }),
    ...(until !== undefined && { until: isDay(until) ? startOfDay(until, 1) : until }),
  };
}

/** Local midnight, as a timestamp. */
function startOfDay(day: string, daysLater: number): string {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year!, month! - 1, date! + daysLater).toISOString();
}
