/** The words for bulk actions: titles, counts, and why nothing happens with a run. */
import type {
  BulkAction,
  BulkActionKind,
  BulkActionPlan,
  BulkActionResult,
  BulkActionStatus,
  SkipReason,
} from "../../../schemas/bulk-action.ts";
import type { RunStatus } from "../../../schemas/run.ts";
import { pluralize } from "../runs/labels.ts";

/** "Retry of 40 runs". The workflow follows, if it is one. */
export const titleOf = ({ action, runs }: Pick<BulkAction, "action" | "runs">): string =>
  `${action === "retry" ? "Retry" : "Cancellation"} of ${pluralize(runs.total, "run")}`;

/** The label of the button that starts it: "Retry 40 runs". */
export const startLabel = (action: BulkActionKind, runs: number): string =>
  `${action === "retry" ? "Retry" : "Cancel"} ${pluralize(runs, "run")}`;

/** "27 retried, 1 skipped, 12 pending"; pending runs only while there are some. */
export function describeCounts({
  action,
  runs,
  status,
}: Pick<BulkAction, "action" | "runs" | "status">): string {
  const { pending, done, skipped } = runs;
  return [
    `${done.toLocaleString()} ${DONE[action]}`,
    `${skipped.toLocaleString()} skipped`,
    ...(pending === 0
      ? []
      : [`${pending.toLocaleString()} ${status === "cancelled" ? "left out" : "pending"}`]),
  ].join(", ");
}

/** The result of a run that was handled. */
export const DONE: Readonly<Record<BulkActionKind, BulkActionResult>> = {
  retry: "retried",
  cancel: "cancelled",
};

/** The title of the message, which says why a bulk action starts nothing at the moment, or why it ended early. */
export const messageTitle = (status: BulkActionStatus): string =>
  status === "running" ? "It goes on with no run at the moment" : "Ended early";

/** Why nothing happens with a run, after its name. */
export const skipLabel = (reason: SkipReason, action: BulkActionKind): string =>
  reason === "wrong_status" ? (action === "retry" ? "not ended yet" : "already ended") : SKIP_LABELS[reason];

const SKIP_LABELS: Readonly<Record<Exclude<SkipReason, "wrong_status">, string>> = {
  already_retried: "already retried by another run",
  part_of_run: "part of another run, whose retry starts it again",
  not_runnable: "can’t be retried",
  changed: "a retry would do something else than was confirmed",
  purged: "no longer stored",
};

/** Steps with the number of runs where these are not all: "`rate`, `pay` (in 2 of 3 runs)". */
export const describeSteps = (counts: Readonly<Record<string, number>>, total: number): string =>
  Object.entries(counts)
    .map(([step, runs]) =>
      runs === total
        ? `\`${step}\``
        : `\`${step}\` (in ${runs.toLocaleString()} of ${pluralize(total, "run")})`,
    )
    .join(", ");

/** The steps whose effects may happen again, of all versions. */
export const repeatedEffects = (plan: readonly BulkActionPlan[]) =>
  plan.flatMap(({ effects = [] }) => effects.filter(({ again }) => again > 0));

const UNFINISHED: readonly RunStatus[] = ["queued", "running", "waiting"];

/** Number of its retries that have not ended. */
export const unfinishedRetries = ({ retries = {} }: Pick<BulkAction, "retries">): number =>
  UNFINISHED.reduce((sum, status) => sum + (retries[status] ?? 0), 0);

/** Reads the filter of the table of runs. @returns undefined for all results */
export function readResult(params: URLSearchParams, action: BulkActionKind): BulkActionResult | undefined {
  const value = params.get("result");
  return value === DONE[action] || value === "skipped" ? value : undefined;
}
