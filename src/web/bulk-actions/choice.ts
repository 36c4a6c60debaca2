/** What a button of the run list acts on: the selected runs, or all that fit the filter. */
import { MAX_BULK_RUNS } from "../../../schemas/bulk-action-limits.ts";
import type { BulkActionKind } from "../../../schemas/bulk-action.ts";
import type { RunStatus, RunSummary } from "../../../schemas/run.ts";
import { projectOf } from "../../../schemas/project-ids.ts";
import { isSearch, type RunFilters, RUN_STATUSES, toQuery } from "../runs/filters.ts";
import { pluralize, TRIGGER_LABELS } from "../runs/labels.ts";

/** The fields of a request that choose the runs. */
export interface ChosenRuns extends Partial<ReturnType<typeof toQuery>> {
  project?: string;
  run_ids?: string[];
}

export interface BulkChoice {
  action: BulkActionKind;
  runs: ChosenRuns;
  /** A sentence that names the runs. */
  description: string;
}

interface BulkButton {
  /** "Retry 3 selected…". */
  label: string;
  /** What it acts on, or why it can't. */
  target: BulkChoice | { reason: string };
}

export interface ListedRuns {
  filters: RunFilters;
  /** The name of the workflow of the filter. */
  workflowName?: string;
  project: { project?: string };
  /** Number of runs that fit the filter; null if it is not known exactly. */
  total: number | null;
  selected: readonly RunSummary[];
}

const VERBS: Readonly<Record<BulkActionKind, string>> = { retry: "Retry", cancel: "Cancel" };

const FITTING: Readonly<Record<BulkActionKind, ReadonlySet<RunStatus>>> = {
  retry: new Set(["succeeded", "failed", "cancelled"]),
  cancel: new Set(["queued", "running", "waiting"]),
};

/** Statuses without a filter. Runs that succeeded are retried only if a person asks for them. */
const DEFAULT_STATUSES: Readonly<Record<BulkActionKind, readonly RunStatus[]>> = {
  retry: ["failed"],
  cancel: RUN_STATUSES.filter((status) => FITTING.cancel.has(status)),
};

export function bulkButton(action: BulkActionKind, listed: ListedRuns): BulkButton {
  return listed.selected.length > 0 ? ofSelection(action, listed.selected) : ofFilter(action, listed);
}

function ofSelection(action: BulkActionKind, selected: readonly RunSummary[]): BulkButton {
  const fitting = selected.filter(({ status }) => FITTING[action].has(status));
  const label = `${VERBS[action]} ${fitting.length.toLocaleString()} selected…`;
  const refuse = (reason: string): BulkButton => ({ label, target: { reason } });
  if (fitting.length === 0)
    return refuse(
      action === "retry" ? "None of the selected runs has ended." : "All of the selected runs have ended.",
    );
  if (new Set(fitting.map(projectOf)).size > 1)
    return refuse("The selected runs are of several projects. Select runs of one project.");
  if (fitting.length > MAX_BULK_RUNS) return refuse(`Select at most ${MAX_BULK_RUNS.toLocaleString()} runs.`);
  const others = selected.length - fitting.length;
  const left =
    others === 0
      ? ""
      : ` ${pluralize(others, "selected run")} ${others === 1 ? "is" : "are"} left out: ${describeUnfit(action, others)}.`;
  return {
    label,
    target: {
      action,
      runs: { run_ids: fitting.map(({ id }) => id) },
      description: `${pluralize(fitting.length, "selected run")}.${left}`,
    },
  };
}

const describeUnfit = (action: BulkActionKind, count: number): string =>
  `${count === 1 ? "it has" : "they have"} ${action === "retry" ? "not ended" : "ended"}`;

function ofFilter(action: BulkActionKind, { filters, workflowName, project, total }: ListedRuns): BulkButton {
  const wanted = filters.status.length === 0 ? DEFAULT_STATUSES[action] : filters.status;
  const status = wanted.filter((one) => FITTING[action].has(one));
  if (status.length === 0)
    return {
      label: `${VERBS[action]}…`,
      target: {
        reason:
          action === "retry"
            ? "The filter finds only runs that have not ended."
            : "The filter finds only runs that have ended.",
      },
    };
  if (isSearch(filters))
    return {
      label: `${VERBS[action]}…`,
      target: { reason: "Select runs of the search, or remove it to act on all runs of the other filters." },
    };
  const isWholeFilter = status.length === filters.status.length;
  const names = describeStatuses(status);
  return {
    label: `${VERBS[action]} all ${isWholeFilter && total !== null ? total.toLocaleString() : names}…`,
    target: {
      action,
      runs: { ...toQuery(filters), status, ...project },
      description: describeFilter(
        { ...filters, workflow: filters.workflow && (workflowName ?? filters.workflow) },
        names,
      ),
    },
  };
}

/** "failed", "failed and cancelled", "unfinished". */
function describeStatuses(statuses: readonly RunStatus[]): string {
  const sorted = RUN_STATUSES.filter((status) => statuses.includes(status));
  if (sorted.length === FITTING.cancel.size && sorted.every((status) => FITTING.cancel.has(status)))
    return "unfinished";
  if (sorted.length === FITTING.retry.size && sorted.every((status) => FITTING.retry.has(status)))
    return "ended";
  return sorted.join(" and ");
}

/** "All failed runs of Pay that a schedule started, created since 2026-11-20." */
function describeFilter(
  { workflow, trigger, since, until }: Omit<RunFilters, "workflow"> & { workflow: string | undefined },
  statuses: string,
): string {
  return `${[
    `All ${statuses} runs${workflow === undefined ? "" : ` of ${workflow}`}`,
    ...(trigger === undefined ? [] : [`trigger ${TRIGGER_LABELS[trigger]}`]),
    ...(since === undefined ? [] : [`created since ${since}`]),
    ...(until === undefined ? [] : [`created until ${until}`]),
  ].join(", ")}.`;
}
