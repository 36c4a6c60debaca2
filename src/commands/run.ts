/** `millrace run`: starts a run, follows it, and ends as it does. */
import { setTimeout as delay } from "node:timers/promises";
import { FINAL_STATUSES, type Run } from "../../schemas/run.ts";
import { cancelRun } from "../../tools/runs/cancel-run.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { AppError } from "../core/errors.ts";
import { findWorkflow } from "../core/find-workflow.ts";
import { MINUTE, SECOND } from "../core/clock.ts";
import { withExecutor, type InProcessExecutor, inProcessExecutor } from "./in-process-executor.ts";
import { parseRunInputs } from "./inputs.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { withOperator, type Operator } from "./operator.ts";
import { silentView, runView, type RunView } from "./run-view.ts";

export interface RunOptions {
  input: readonly string[];
  inputsFile?: string;
  version?: number;
  watch?: boolean;
  json?: boolean;
  config?: string;
}

export interface RunHost {
  /** Called once: the process was asked to end. */
  onStop(stop: () => void): void;
}

/** The view is drawn anew so often at most, and so seldom at least: times go on while nothing changes. */
const DRAW_EVERY_MS = 100;
const REDRAW_MS = SECOND;
/** So long a wait is waited for without --watch. */
const SHORT_WAIT_MS = MINUTE;
/** How long a run in this process may take to be cancelled. */
const CANCEL_MS = 12 * SECOND;

/** Runs a workflow; ends with 0 when it succeeded, 1 when it failed or was cancelled, 6 while it waits. */
export async function run(io: Io, host: RunHost, workflow: string, options: RunOptions): Promise<void> {
  const stop = new AbortController();
  host.onStop(() => stop.abort());
  const own = inProcessExecutor();
  const ended = await withOperator(io, { config: options.config, executors: own }, async (operator) => {
    const schema = await inputsSchema(operator, workflow, options.version);
    const started = await operator.call<Run>(runWorkflow, {
      workflow_id: workflow,
      inputs: parseRunInputs(options.input, options.inputsFile, schema),
      ...(options.version !== undefined && { version: options.version }),
      wait: 0,
    });
    return withExecutor(io, operator, own, () => {
      const view = options.watch ? runView(io) : silentView;
      return follow(operator, started.id, own, { view, stop: stop.signal, watch: options.watch === true });
    });
  });
  tell(io, ended, options.json === true);
}

async function inputsSchema(
  { services }: Operator,
  id: string,
  wanted: number | undefined,
): Promise<Record<string, unknown> | null> {
  const { published_version, version } = await findWorkflow(services.read.workflows, id);
  const definition = await services.read.runs.versionDefinition(id, wanted ?? published_version ?? version);
  return (definition?.["inputs"] ?? null) as Record<string, unknown> | null;
}

interface Ended {
  run: Run;
  /** Whole, unlike the run's own. */
  output: unknown;
  /** Watching was ended, the run was not. */
  left: boolean;
}

async function follow(
  operator: Operator,
  id: string,
  own: InProcessExecutor,
  { view, stop, watch }: { view: RunView; stop: AbortSignal; watch: boolean },
): Promise<Ended> {
  const { services, call } = operator;
  let cancelled: number | undefined;
  for (;;) {
    const [seen] = await services.read.runs.getStatusSummaries([id]);
    const shown = await call<Run>(getRun, { run_id: id, detail: "steps" });
    view.show(shown);
    const ended = FINAL_STATUSES.has(shown.status);
    const left =
      stop.aborted && (!own.isStarted() || (cancelled !== undefined && performance.now() > cancelled));
    if (ended || left || (!watch && waitsLong(shown))) {
      return {
        run: shown,
        output: ended ? await services.read.runs.runOutput(id) : null,
        left: left && !ended,
      };
    }
    if (stop.aborted && cancelled === undefined) {
      cancelled = performance.now() + CANCEL_MS;
      await call(cancelRun, { run_id: id }).catch(unlessEnded);
      continue;
    }
    const signal = stop.aborted ? new AbortController().signal : stop;
    await services.engine.waitForChange(id, seen!.seq, { ms: REDRAW_MS, signal });
    await delay(DRAW_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

function unlessEnded(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== "run_finished") throw error;
}

/** Whether it waits for a person, or for longer than anybody at a prompt wants to. */
function waitsLong({ status, approvals = [], steps = [] }: Run): boolean {
  if (status !== "waiting") return false;
  const until = steps.flatMap(({ waits_until: at }) => (at === undefined ? [] : [Date.parse(at)]));
  return approvals.length > 0 || (until.length > 0 && Math.min(...until) > Date.now() + SHORT_WAIT_MS);
}

/** @throws CommandError unless it succeeded */
function tell(io: Io, { run: shown, output, left }: Ended, json: boolean): void {
  if (json)
    io.out(`${JSON.stringify({ ...shown, ...(shown.status === "succeeded" && { output }) }, null, 2)}\n`);
  switch (shown.status) {
    case "succeeded":
      if (!json) io.out(`${JSON.stringify(output, null, 2)}\n`);
      return;
    case "failed":
      throw new CommandError(describeFailure(shown));
    case "cancelled":
      throw new CommandError(`The run ${shown.id} was cancelled.`);
    default:
      if (left)
        throw new CommandError(
          `The run ${shown.id} goes on by itself. See it with: millrace runs show ${shown.id}`,
          EXIT.interrupted,
        );
      throw new CommandError(describeWaits(shown), EXIT.waiting);
  }
}

/** The failing step, why, and what to do. */
export function describeFailure({ id, error, failed_step: step }: Run): string {
  const item = step?.item === undefined ? "" : ` (item ${step.item})`;
  const where = step === undefined ? "" : ` at step "${step.id}"${item}`;
  const input = step?.input === undefined ? [] : [`Its input: ${JSON.stringify(step.input)}`];
  return [
    `The run ${id} failed${where}: ${error?.message ?? "unknown"} (${error?.code ?? "unknown"})`,
    ...(error?.fix === undefined ? [] : [error.fix]),
    ...input,
    `More: millrace runs show ${id}`,
  ].join("\n");
}

/** In words, for each thing that it waits for. */
export function describeWaits({ id, approvals = [], steps = [] }: Run): string {
  return [
    `The run ${id} waits:`,
    ...approvals.map(
      (it) =>
        `- for a decision at step "${it.step_id}": ${it.message} (POST /approvals/${it.id}, or decide_approval)`,
    ),
    ...steps
      .filter(
        ({ id: step, waits_until: at }) => at !== undefined && !approvals.some((it) => it.step_id === step),
      )
      .map(({ id: step, waits_until: at }) => `- at step "${step}" until ${at}`),
    `It goes on by itself then, where an executor runs. See it with: millrace runs show ${id}`,
  ].join("\n");
}
