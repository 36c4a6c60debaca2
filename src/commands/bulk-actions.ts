/** `millrace runs bulk`: retries or cancels many runs. */
import type {
  BulkAction,
  BulkActionKind,
  BulkActionResult,
  BulkActionRun,
} from "../../schemas/bulk-action.ts";
import { cancelBulkAction } from "../../tools/bulk-actions/cancel-bulk-action.ts";
import { getBulkAction } from "../../tools/bulk-actions/get-bulk-action.ts";
import { listBulkActionRuns } from "../../tools/bulk-actions/list-bulk-action-runs.ts";
import { listBulkActions } from "../../tools/bulk-actions/list-bulk-actions.ts";
import { startBulkAction } from "../../tools/bulk-actions/start-bulk-action.ts";
import { AppError } from "../core/errors.ts";
import {
  type BulkPreview,
  bulkSubject,
  describeBulkVerdict,
  endedCount,
  printBulkAction,
  printBulkPreview,
  printBulkRuns,
  progressLine,
} from "./bulk-action-report.ts";
import { formatTimestamp } from "./columns.ts";
import { confirm, type ConfirmHost } from "./confirm.ts";
import { type InProcessExecutor, inProcessExecutor, withExecutor } from "./in-process-executor.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { type Operator, withOperator } from "./operator.ts";
import { namingOptions } from "./option-issues.ts";
import { plural } from "./plural.ts";
import { progressView } from "./progress-view.ts";
import { allOf, printJson, printTable } from "./project-output.ts";
import type { RunHost } from "./run.ts";
import { definedOnly, FILTER_OPTIONS, filterInput, type RunFilterOptions } from "./run-filter.ts";

export interface BulkOptions extends RunFilterOptions {
  /** Ids of runs, instead of a filter. */
  run?: string[];
  version?: number;
  rate?: string;
  concurrency?: number;
  reason?: string;
  dryRun?: boolean;
  yes?: boolean;
  /** Off with `--no-wait`. */
  wait: boolean;
  json?: boolean;
  config?: string;
}

const OPTIONS = {
  ...FILTER_OPTIONS,
  run_ids: "--run",
  version: "--version",
  rate: "--rate",
  concurrency: "--concurrency",
  reason: "--reason",
};

/** Time between two readings of the bulk action, in seconds. */
const WAIT_SECONDS = 1;

const WORDS = {
  retry: { question: "Retry them?", done: "retried" },
  cancel: { question: "Cancel them?", done: "cancelled" },
} as const satisfies Record<BulkActionKind, object>;

/**
 * Shows what would happen with the runs, and starts exactly that when the person at the terminal agrees; waits for its end, and reports it.
 * A filter that no run fits is no error.
 * @throws CommandError with exit code 1 unless everything was done and no retry failed, 130 after Ctrl-C
 */
export function runBulkAction(
  io: Io,
  host: RunHost & ConfirmHost,
  action: BulkActionKind,
  options: BulkOptions,
): Promise<void> {
  const { run, version, rate, concurrency, reason } = options;
  const input = {
    action,
    ...filterInput(options),
    ...definedOnly({ run_ids: run, version, rate, concurrency, reason }),
    wait: 0,
  };
  return namingOptions(OPTIONS, () =>
    options.dryRun ? preview(io, input, options) : confirmAndStart(io, host, input, options),
  );
}

type Input = Readonly<Record<string, unknown>> & { action: BulkActionKind };

/** The preview of a filter that no run fits. The operation has none. */
type NothingToDo = BulkPreview & Pick<BulkAction, "status"> & { id: null };

/** Whether it is a preview of which nothing can be started. */
const isNothingToDo = (planned: BulkAction | NothingToDo): planned is NothingToDo =>
  planned.id === null && planned.runs.total === 0;

async function preview(
  io: Io,
  input: Input,
  { config, json }: Pick<BulkOptions, "config" | "json">,
): Promise<void> {
  const planned = await withOperator(
    io,
    { config, requiresStateFor: `${input.action} runs of` },
    (operator) => plan(operator, input),
  );
  if (json) return printJson(io, planned);
  printBulkPreview(io, planned);
  if (planned.runs.total > 0) io.out("Nothing was started.\n");
}

/** What would happen. @throws AppError run_not_found where a run is named that does not exist, and the errors of the operation */
async function plan({ call }: Operator, input: Input): Promise<BulkAction | NothingToDo> {
  try {
    return await call<BulkAction>(startBulkAction, input);
  } catch (error) {
    const isFilter = input["run_ids"] === undefined;
    if (!isFilter || !(error instanceof AppError) || error.code !== "run_not_found") throw error;
    const runs = { total: 0, pending: 0, done: 0, skipped: 0 };
    return { id: null, action: input.action, status: "preview", runs, skipped: [], plan: [] };
  }
}

async function confirmAndStart(
  io: Io,
  host: RunHost & ConfirmHost,
  input: Input,
  { config, json, yes, wait }: BulkOptions,
): Promise<void> {
  const { question, done } = WORDS[input.action];
  const own = inProcessExecutor();
  const last = await withOperator(io, { config, executors: own }, async (operator) => {
    const planned = await plan(operator, input);
    // Standard output has nothing but the JSON.
    printBulkPreview(json ? { ...io, out: io.err, terminal: io.errTerminal } : io, planned);
    if (isNothingToDo(planned)) return planned;
    if (!yes) await confirm(host, question, done);
    const started = await start(operator, { ...input, digest: planned.digest });
    if (!wait) return started;
    const stop = new AbortController();
    host.onStop(() => stop.abort());
    return withExecutor(io, operator, own, () => follow(io, operator, { started, own, stop: stop.signal }));
  });
  if (json) printJson(io, last);
  if (isNothingToDo(last)) return;
  const { id, status, runs } = last;
  if (!wait)
    return json
      ? undefined
      : io.out(
          `Started the bulk action ${id}: ${plural(runs.total, "run")}. The executors of millrace serve go on with it. ` +
            `millrace runs bulk show ${id} shows how far it is.\n`,
        );
  if (!json) printBulkAction(io, last);
  if (status === "running")
    throw new CommandError(
      `The bulk action ${id} continues. Show it with: millrace runs bulk show ${id}`,
      EXIT.interrupted,
    );
  const verdict = describeBulkVerdict(last);
  if (verdict !== undefined) throw new CommandError(verdict);
}

/** @throws CommandError when it would do something else than the preview said */
async function start({ call }: Operator, input: Input & { digest: string }): Promise<BulkAction> {
  try {
    return await call<BulkAction>(startBulkAction, input);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "bulk_action_changed") throw error;
    throw new CommandError(
      `Nothing was ${WORDS[input.action].done}: the runs, or what would happen with them, have changed since the preview. ` +
        "Run the command again to see the new preview.",
    );
  }
}

interface Following {
  started: BulkAction;
  own: InProcessExecutor;
  stop: AbortSignal;
}

/** Shows the progress until the bulk action has ended, or until `stop`: then it is cancelled if only this process runs it. */
async function follow(io: Io, { call }: Operator, { started, own, stop }: Following): Promise<BulkAction> {
  const path = { bulk_action_id: started.id };
  const show = progressView(io);
  for (let current = started; ;) {
    show({ done: endedCount(current), total: current.runs.total, message: progressLine(current) });
    if (current.status !== "running") return current;
    if (stop.aborted) {
      if (!own.isStarted()) return current;
      // Without it, retries that have not ended would go on as soon as any executor starts.
      return call<BulkAction>(cancelBulkAction, { ...path, running: true }).catch((error: unknown) => {
        if (!(error instanceof AppError) || error.code !== "bulk_action_finished") throw error;
        return call<BulkAction>(getBulkAction, path);
      });
    }
    current = await call<BulkAction>(getBulkAction, { ...path, wait: WAIT_SECONDS });
  }
}

/** Lists bulk actions, newest first. */
export async function showBulkActions(
  io: Io,
  { json, ...filter }: Pick<BulkOptions, "workflow" | "project" | "json">,
): Promise<void> {
  const items = await withOperator(io, { requiresStateFor: "list bulk actions of" }, (operator) =>
    allOf<BulkAction>(operator, listBulkActions, filterInput(filter)),
  );
  if (json) return printJson(io, items);
  if (items.length === 0)
    return io.out("There are no such bulk actions. Start one: millrace runs bulk retry --status failed\n");
  const rows = items.map(({ id, action, status, runs, retries = {}, ...item }) => [
    id!,
    action,
    bulkSubject(item),
    status,
    `${runs.done} of ${runs.total}`,
    String(runs.skipped),
    String(retries.failed ?? 0),
    formatTimestamp(item.created_at),
    item.started_by,
  ]);
  printTable(
    io,
    ["ID", "ACTION", "WORKFLOW", "STATUS", "DONE", "SKIPPED", "FAILED", "CREATED (UTC)", "STARTED BY"],
    rows,
  );
}

/** Shows how far a bulk action is, or lists its runs. */
export async function showBulkAction(
  io: Io,
  id: string,
  { result, json }: { result?: BulkActionResult | "all"; json?: boolean },
): Promise<void> {
  const path = { bulk_action_id: id };
  await withOperator(io, { requiresStateFor: "show a bulk action of" }, async (operator) => {
    if (result === undefined) {
      const found = await operator.call<BulkAction>(getBulkAction, path);
      return json ? printJson(io, found) : printBulkAction(io, found);
    }
    const runs = await allOf<BulkActionRun>(operator, listBulkActionRuns, {
      ...path,
      ...(result !== "all" && { result }),
    });
    return json ? printJson(io, runs) : printBulkRuns(io, runs);
  });
}

/** Ends a bulk action. */
export async function stopBulkAction(
  io: Io,
  id: string,
  { running = false }: { running?: boolean },
): Promise<void> {
  const { action, runs } = await withOperator(io, {}, ({ call }) =>
    call<BulkAction>(cancelBulkAction, { bulk_action_id: id, running }),
  );
  const retries = running
    ? " Its unfinished retries are being cancelled."
    : " Retries that have started go on; --running cancels them too.";
  io.out(
    `Stopped ${id}: ${plural(runs.pending, "run")} will not be ${WORDS[action].done}.${action === "retry" ? retries : ""}\n`,
  );
}
