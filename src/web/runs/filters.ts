/** The filters of the run list: parsed from the URL, and converted to the parameters of GET /runs. */
import type { RunStatus, RunTrigger } from "../../../schemas/run.ts";
import { TRIGGER_LABELS } from "./labels.ts";

export interface RunFilters {
  /** Words that the runs contain. */
  search?: string;
  /** A condition that is true for the runs: an expression. */
  where?: string;
  workflow?: string;
  status: RunStatus[];
  trigger?: RunTrigger;
  /** A day in the local time zone (2026-11-21), or a timestamp. */
  since?: string;
  /** The last day, inclusive; or a timestamp. */
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
const isTimestamp = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text));
export const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);

/** Parses the URL. Unknown values are ignored. */
export function readFilters(params: URLSearchParams): RunFilters {
  const [search, where] = [params.get("search") ?? "", params.get("where") ?? ""];
  const workflow = params.get("workflow") ?? "";
  const [trigger, since, until] = [params.get("trigger"), params.get("since"), params.get("until")];
  return {
    ...(search !== "" && { search }),
    ...(where !== "" && { where }),
    ...(workflow !== "" && { workflow }),
    status: (params.get("status") ?? "").split(",").filter(isStatus),
    ...(isTrigger(trigger) && { trigger }),
    ...(isTimestamp(since) && { since }),
    ...(isTimestamp(until) && { until }),
  };
}

export function writeFilters({ status, ...filters }: RunFilters): URLSearchParams {
  const { search, where, workflow, trigger, since, until } = filters;
  const values = { search, where, workflow, status: status.join(","), trigger, since, until };
  return new URLSearchParams(
    Object.entries(values).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "",
    ),
  );
}

export const isFiltered = (filters: RunFilters): boolean => writeFilters(filters).size > 0;

/** Whether the values of runs are searched, which takes a request for each few thousand runs. */
export const isSearch = ({ search, where }: RunFilters): boolean =>
  search !== undefined || where !== undefined;

/** The parameters of GET /runs. */
export const toListQuery = (filters: RunFilters) => ({
  ...toQuery(filters),
  ...(filters.search !== undefined && { search: filters.search }),
  ...(filters.where !== undefined && { where: filters.where }),
});

/** The parameters that all operations on runs know. The API reads a day in UTC, so local days are sent as timestamps. */
export function toQuery({ workflow, status, trigger, since, until }: Omit<RunFilters, "search" | "where">) {
  return {
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
