/** What the command line says about a bulk action. */
import { MAX_BULK_RUNS } from "../../schemas/bulk-action-limits.ts";
import type { BulkAction, BulkActionPlan, BulkActionRun } from "../../schemas/bulk-action.ts";
import { FINAL_STATUSES, type RunStatus } from "../../schemas/run.ts";
import { formatTimestamp } from "./columns.ts";
import { type Io, paint } from "./io.ts";
import { plural } from "./plural.ts";
import { printTable } from "./project-output.ts";

const DONE = { retry: "retried", cancel: "cancelled" } as const;

const MORE = `More than ${MAX_BULK_RUNS} runs fit the filter; these are the newest. Use the same command again for the others.`;

/** The workflow of all runs of a bulk action. Single steps have none. */
export const bulkSubject = ({ workflow_id: workflow }: Pick<BulkAction, "workflow_id">): string =>
  workflow ?? "several workflows or single steps";

const versionName = ({ workflow_id: workflow, version, changed }: BulkActionPlan): string =>
  workflow === null
    ? "single steps"
    : `${workflow} version ${version}${changed === true ? " with a changed definition" : ""}`;

export type BulkPreview = Pick<BulkAction, "action" | "runs" | "plan" | "skipped" | "more">;

/** Prints what a bulk action would do. */
export function printBulkPreview(io: Io, { action, runs, plan, skipped, more }: BulkPreview): void {
  const { bold, yellow } = paint(io);
  for (const group of plan) {
    io.out(
      `${bold(versionName(group))}: ${plural(group.runs, "run")} would be ${DONE[action]}${action === "retry" ? ", with these steps" : ""}\n`,
    );
    if (action === "retry") printSteps(io, group);
  }
  printSkipped(io, skipped);
  for (const { effects = [], ...group } of plan)
    for (const { step, type, runs: all, again, first } of effects)
      if (again > 0)
        io.out(
          `${yellow("Warning:")} ${step} (${type}) of ${versionName(group)} was attempted in ${again} of ${plural(all, "run")}: ` +
            `its effect may happen again, first in ${first.join(", ")}.\n`,
        );
  if (more === true) io.out(`${yellow("Warning:")} ${MORE}\n`);
  io.out(
    runs.total === 0
      ? `There is nothing to do: ${skipped.length === 0 ? "no run fits the filter" : `no run would be ${DONE[action]}`}.\n`
      : `${plural(runs.total, "run")} would be ${DONE[action]}.\n`,
  );
}

function printSteps(io: Io, { reused = {}, run = {}, effects = [] }: BulkActionPlan): void {
  const rows = [...new Set([...Object.keys(reused), ...Object.keys(run)])].map((step) => {
    const effect = effects.find((one) => one.step === step);
    const again = effect === undefined ? "" : String(effect.again);
    return [step, String(reused[step] ?? 0), String(run[step] ?? 0), effect?.type ?? "", again];
  });
  if (rows.length > 0) printTable(io, ["STEP", "REUSED", "EXECUTED", "EFFECT", "ATTEMPTED BEFORE"], rows);
}

function printSkipped(io: Io, skipped: BulkAction["skipped"]): void {
  for (const { reason, runs, first, message } of skipped) {
    const rest = runs - first.length;
    io.out(
      `  ${plural(runs, "run")} skipped (${reason}): ${first.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}\n`,
    );
    if (message !== undefined) io.out(`    ${message}\n`);
  }
}

/** Prints how far a bulk action is. */
export function printBulkAction(io: Io, bulkAction: BulkAction): void {
  const { bold, yellow, dim } = paint(io);
  const { id, action, version, status, runs, message, reason } = bulkAction;
  const subject = `${bulkSubject(bulkAction)}${version === undefined ? "" : ` version ${version}`}`;
  io.out(`${bold(id!)}  ${action}  ${subject}  ${status}\n`);
  io.out(
    `  ${plural(runs.total, "run")}: ${runs.done} ${DONE[action]}, ${runs.skipped} skipped, ${runs.pending} pending\n`,
  );
  const counts = retryCounts(bulkAction);
  if (counts !== "") io.out(`  Retries: ${counts}\n`);
  printSkipped(io, bulkAction.skipped);
  if (message !== null) io.out(`  ${yellow(message)}\n`);
  if (bulkAction.more === true) io.out(`  ${yellow(MORE)}\n`);
  if (bulkAction.cancelled_by !== null) io.out(`  Stopped by ${bulkAction.cancelled_by}\n`);
  if (reason !== null) io.out(`  ${dim(reason)}\n`);
}

/** "25 succeeded, 2 failed" */
const retryCounts = ({ retries = {} }: BulkAction): string =>
  Object.entries(retries)
    .map(([status, count]) => `${count} ${status}`)
    .join(", ");

/** "27 of 40 runs retried, 1 skipped; retries: 25 succeeded, 2 failed" */
export function progressLine(bulkAction: BulkAction): string {
  const { action, runs, message } = bulkAction;
  const counts = retryCounts(bulkAction);
  return (
    `${runs.done} of ${plural(runs.total, "run")} ${DONE[action]}, ${runs.skipped} skipped` +
    `${counts === "" ? "" : `; retries: ${counts}`}${message === null ? "" : `. ${message}`}`
  );
}

/** Number of its runs that need nothing more: skipped, cancelled, or retried by a run that has ended. */
export function endedCount({ runs, retries = {} }: BulkAction): number {
  const active = Object.entries(retries)
    .filter(([status]) => !FINAL_STATUSES.has(status as RunStatus))
    .reduce((sum, [, count]) => sum + count, 0);
  return runs.total - runs.pending - active;
}

/**
 * Says why a bulk action that has ended was no success.
 * @returns undefined when all of its runs were retried successfully, or are cancelled or had ended
 */
export function describeBulkVerdict({
  id,
  action,
  status,
  runs,
  retries: { failed = 0, cancelled = 0 } = {},
  cancelled_by: by,
}: BulkAction): string | undefined {
  const show = `millrace runs bulk show ${id} --result`;
  if (status === "cancelled")
    return `The bulk action ${id} was stopped${by === null ? "" : ` by ${by}`}: nothing happened with ${plural(runs.pending, "run")}.`;
  // A run that has ended can't be cancelled, and need not be.
  if (action === "cancel") return undefined;
  const parts = [
    ...(failed > 0 ? [`${plural(failed, "retry", "retries")} failed`] : []),
    ...(cancelled > 0
      ? [`${plural(cancelled, "retry", "retries")} ${cancelled === 1 ? "was" : "were"} cancelled`]
      : []),
    ...(runs.skipped > 0
      ? [`${plural(runs.skipped, "run")} of the preview ${runs.skipped === 1 ? "was" : "were"} skipped`]
      : []),
  ];
  if (parts.length === 0) return undefined;
  return `${parts.join(", ")}. ${show} ${failed + cancelled > 0 ? "retried" : "skipped"} lists the runs.`;
}

/** Prints runs of a bulk action, in their order. */
export function printBulkRuns(io: Io, runs: readonly BulkActionRun[]): void {
  if (runs.length === 0) return io.out("The bulk action has no such runs.\n");
  const rows = runs.map(({ run_id: run, workflow_id: workflow, created_at: at, ...row }) => [
    run,
    workflow ?? "",
    at === undefined ? "purged" : formatTimestamp(at),
    row.result ?? "pending",
    row.retry ?? "",
    row.retry_status ?? (row.retry === null ? "" : "purged"),
    `${row.reason ?? ""}${row.message === undefined ? "" : `: ${row.message}`}`,
  ]);
  printTable(io, ["RUN", "WORKFLOW", "CREATED (UTC)", "RESULT", "RETRY", "STATUS", "REASON"], rows);
}
