/** `millrace backfill` and `millrace backfills`: the runs of a schedule for a past range. */
import type { Backfill, BackfillPreview } from "../../schemas/backfill.ts";
import { cancelBackfill } from "../../tools/backfills/cancel-backfill.ts";
import { getBackfill } from "../../tools/backfills/get-backfill.ts";
import { listBackfills } from "../../tools/backfills/list-backfills.ts";
import { previewBackfill } from "../../tools/backfills/preview-backfill.ts";
import { startBackfill } from "../../tools/backfills/start-backfill.ts";
import { formatTimestamp } from "./columns.ts";
import { type Io, paint } from "./io.ts";
import { withCaller } from "./with-caller.ts";
import { plural } from "./plural.ts";
import { allOf, printJson, printTable } from "./project-output.ts";

export interface BackfillOptions {
  from: string;
  to: string;
  concurrency: number;
  existing: string;
  reason?: string;
  dryRun?: boolean;
  json?: boolean;
  config?: string;
}

/** Starts a backfill, or shows what it would start. */
export async function backfill(
  io: Io,
  workflow: string,
  { dryRun, json, config, reason, ...range }: BackfillOptions,
): Promise<void> {
  const input = { workflow_id: workflow, ...range };
  if (dryRun) {
    const preview = await withCaller(io, { config, requiresStateFor: "preview a backfill of" }, ({ call }) =>
      call<BackfillPreview>(previewBackfill, input),
    );
    return json ? printJson(io, preview) : printPreview(io, preview);
  }
  const started = await withCaller(io, { config, requiresStateFor: "backfill a workflow of" }, ({ call }) =>
    call<Backfill>(startBackfill, { ...input, ...(reason !== undefined && { reason }) }),
  );
  if (json) return printJson(io, started);
  const { id, workflow_id: of, version, slots } = started;
  io.out(
    `Started the backfill ${id}: ${plural(slots.total, "scheduled time")} of ${of}, version ${version}.\n` +
      `The executors of millrace serve start its runs. millrace backfills show ${of} ${id} shows how far it is.\n`,
  );
}

function printPreview(io: Io, preview: BackfillPreview): void {
  const { yellow, dim } = paint(io);
  const rows = preview.slots.map(({ local, at, action, run_id: run, run_status: status }) => [
    local,
    at,
    action,
    run === undefined ? "" : `${run} (${status})`,
  ]);
  printTable(io, [`LOCAL TIME (${preview.timezone})`, "UTC", "ACTION", "NEWEST RUN"], rows);
  const rest = preview.total - rows.length;
  if (rest > 0) io.out(dim(`${plural(rest, "more time")}\n`));
  io.out(
    `\n${plural(preview.starts, "run")} of version ${preview.version} would start${rest > 0 ? ", without those not listed" : ""}. Nothing was started.\n`,
  );
  for (const warning of preview.warnings) io.out(`${yellow("Warning:")} ${warning}\n`);
}

/** Lists the backfills of a workflow, newest first. */
export async function showBackfills(io: Io, workflow: string, { json }: { json?: boolean }): Promise<void> {
  const items = await withCaller(io, { requiresStateFor: "list backfills of" }, (caller) =>
    allOf<Backfill>(caller, listBackfills, { workflow_id: workflow }),
  );
  if (json) return printJson(io, items);
  if (items.length === 0)
    return io.out(
      `${workflow} has no backfills. Start one: millrace backfill ${workflow} --from 2026-10-01 --to 2026-10-31\n`,
    );
  const rows = items.map((item) => [
    item.id,
    item.status,
    `${item.slots.started} of ${item.slots.total}`,
    String(item.slots.skipped),
    String(item.runs.failed ?? 0),
    formatTimestamp(item.from),
    formatTimestamp(item.to),
    item.started_by,
  ]);
  printTable(io, ["ID", "STATUS", "STARTED", "SKIPPED", "FAILED", "FROM", "TO", "STARTED BY"], rows);
}

/** Shows how far a backfill is. */
export async function showBackfill(
  io: Io,
  workflow: string,
  id: string,
  { json }: { json?: boolean },
): Promise<void> {
  const found = await withCaller(io, { requiresStateFor: "show a backfill of" }, ({ call }) =>
    call<Backfill>(getBackfill, { workflow_id: workflow, backfill_id: id }),
  );
  if (json) return printJson(io, found);
  const { slots, runs } = found;
  io.out(`${paint(io).bold(found.id)}  ${found.workflow_id} version ${found.version}  ${found.status}\n`);
  io.out(`  ${found.cron} (${found.timezone}), from ${found.from} to ${found.to}\n`);
  io.out(
    `  ${plural(slots.total, "scheduled time")}: ${slots.started} started, ${slots.skipped} skipped, ${slots.left} left\n`,
  );
  const counts = Object.entries(runs).map(([status, count]) => `${count} ${status}`);
  if (counts.length > 0) io.out(`  Runs: ${counts.join(", ")}\n`);
  if (found.message !== null) io.out(`  ${paint(io).yellow(found.message)}\n`);
  if (found.cancelled_by !== null) io.out(`  Cancelled by ${found.cancelled_by}\n`);
}

/** Cancels a backfill. */
export async function cancelOneBackfill(
  io: Io,
  workflow: string,
  id: string,
  { running = false }: { running?: boolean },
): Promise<void> {
  const { slots } = await withCaller(io, {}, ({ call }) =>
    call<Backfill>(cancelBackfill, { workflow_id: workflow, backfill_id: id, running }),
  );
  io.out(
    `Cancelled ${id}: ${plural(slots.left, "scheduled time")} will not start. ` +
      `${running ? "Its unfinished runs are being cancelled." : "Runs that have started go on; --running cancels them too."}\n`,
  );
}
