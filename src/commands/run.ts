/** `millrace run`: starts a run, waits for its end, and reports it. */
import { setTimeout as delay } from "node:timers/promises";
import { FINAL_STATUSES, type Run, type RunStep } from "../../schemas/run.ts";
import { cancelRun } from "../../tools/runs/cancel-run.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { AppError } from "../core/errors.ts";
import { findWorkflow } from "../core/find-workflow.ts";
import { MINUTE, SECOND } from "../core/clock.ts";
import { withExecutor, type InProcessExecutor, inProcessExecutor } from "./in-process-executor.ts";
import { parseGiven, parseRunInputs } from "./inputs.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { withOperator, type Operator } from "./operator.ts";
import { silentView, runView, type RunView } from "./run-view.ts";

export interface RunOptions {
  input: readonly string[];
  inputsFile?: string;
  given?: string;
  version?: number;
  watch?: boolean;
  json?: boolean;
  config?: string;
}

export interface RunHost {
  /** Calls back once when the process must end. */
  onStop(stop: () => void): void;
}

/** Minimum time between two redraws, in milliseconds. */
const MIN_REDRAW_INTERVAL_MS = 100;
/** Maximum time between two redraws, in milliseconds: elapsed times change although the run does not. */
const MAX_REDRAW_INTERVAL_MS = SECOND;
/** Without --watch, the command ends with code 6 if a step waits longer than this, in milliseconds. */
const SHORT_WAIT_MS = MINUTE;
/** How long the cancellation of a run in this process may take, in milliseconds. */
const CANCEL_LIMIT_MS = 12 * SECOND;

/** Runs a workflow. @throws CommandError with exit code 1 if it failed or was cancelled, 6 if it waits, 130 after Ctrl-C */
export const run = (io: Io, host: RunHost, workflow: string, options: RunOptions): Promise<void> =>
  startAndFollow(io, host, options, async (operator) => {
    const schema = await inputsSchema(operator, workflow, options.version);
    return operator.call<Run>(runWorkflow, {
      workflow_id: workflow,
      inputs: parseRunInputs(options.input, options.inputsFile, schema),
      ...(options.version !== undefined && { version: options.version }),
      ...(options.given !== undefined && { given: parseGiven(options.given) }),
      wait: 0,
    });
  });

/** Starts a run, waits for its end, and reports it. @throws CommandError as for `run` */
export async function startAndFollow(
  io: Io,
  host: RunHost,
  options: Pick<RunOptions, "config" | "watch" | "json">,
  start: (operator: Operator) => Promise<Run>,
): Promise<void> {
  const stop = new AbortController();
  host.onStop(() => stop.abort());
  const own = inProcessExecutor();
  const result = await withOperator(io, { config: options.config, executors: own }, async (operator) => {
    const started = await start(operator);
    return withExecutor(io, operator, own, () => {
      const view = options.watch ? runView(io) : silentView;
      return follow(operator, started.id, own, { view, stop: stop.signal, watch: options.watch === true });
    });
  });
  report(io, result, options.json === true);
}

async function inputsSchema(
  { services }: Operator,
  id: string,
  requestedVersion: number | undefined,
): Promise<Record<string, unknown> | null> {
  const { published_version, version } = await findWorkflow(services.read.workflows, id);
  const definition = await services.read.runs.versionDefinition(
    id,
    requestedVersion ?? published_version ?? version,
  );
  return (definition?.["inputs"] ?? null) as Record<string, unknown> | null;
}

interface FollowResult {
  run: Run;
  /** The whole output; `run.output` may be cut. */
  output: unknown;
  /** Watching was interrupted and the run continues. */
  interrupted: boolean;
}

async function follow(
  operator: Operator,
  id: string,
  own: InProcessExecutor,
  { view, stop, watch }: { view: RunView; stop: AbortSignal; watch: boolean },
): Promise<FollowResult> {
  const { services, call } = operator;
  let cancelDeadline: number | undefined;
  for (;;) {
    const [summary] = await services.read.runs.getStatusSummaries([id]);
    const current = await call<Run>(getRun, { run_id: id, detail: "steps" });
    view.show(current);
    const ended = FINAL_STATUSES.has(current.status);
    const interrupted =
      stop.aborted &&
      (!own.isStarted() || (cancelDeadline !== undefined && performance.now() > cancelDeadline));
    if (ended || interrupted || (!watch && waitsLong(current))) {
      return {
        run: current,
        output: ended ? await services.read.runs.runOutput(id) : null,
        interrupted: interrupted && !ended,
      };
    }
    if (stop.aborted && cancelDeadline === undefined) {
      cancelDeadline = performance.now() + CANCEL_LIMIT_MS;
      await call(cancelRun, { run_id: id }).catch(ignoreRunFinished);
      continue;
    }
    const signal = stop.aborted ? new AbortController().signal : stop;
    await services.engine.waitForChange(id, summary!.seq, { ms: MAX_REDRAW_INTERVAL_MS, signal });
    await delay(MIN_REDRAW_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

function ignoreRunFinished(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== "run_finished") throw error;
}

/** Whether the run needs an approval, an event or a person who settles an interruption, or waits for longer than a person at a terminal would. */
function waitsLong({ status, approvals = [], interruptions = [], steps = [] }: Run): boolean {
  if (status !== "waiting") return false;
  const until = steps.flatMap(({ waits_until: at }) => (at === undefined ? [] : [Date.parse(at)]));
  const expectsEvent = steps.some(isExpectingEvent);
  return (
    approvals.length > 0 ||
    interruptions.some(({ waiting }) => waiting) ||
    expectsEvent ||
    (until.length > 0 && Math.min(...until) > Date.now() + SHORT_WAIT_MS)
  );
}

const isExpectingEvent = ({ status, event_url: url }: RunStep): boolean =>
  status === "waiting" && url !== undefined;

/** @throws CommandError unless the run succeeded */
function report(io: Io, { run: finalRun, output, interrupted }: FollowResult, json: boolean): void {
  if (json)
    io.out(
      `${JSON.stringify({ ...finalRun, ...(finalRun.status === "succeeded" && { output }) }, null, 2)}\n`,
    );
  switch (finalRun.status) {
    case "succeeded":
      if (!json) io.out(`${JSON.stringify(output, null, 2)}\n`);
      return;
    case "failed":
      throw new CommandError(describeFailure(finalRun));
    case "cancelled":
      throw new CommandError(`The run ${finalRun.id} was cancelled.`);
    default:
      if (interrupted)
        throw new CommandError(
          `The run ${finalRun.id} continues. Show it with: millrace runs show ${finalRun.id}`,
          EXIT.interrupted,
        );
      throw new CommandError(describeWaits(finalRun), EXIT.waiting);
  }
}

/** Says which step failed, why, and how to fix it. */
export function describeFailure({ id, error, failed_step: step, on_failure: handler }: Run): string {
  const item = step?.item === undefined ? "" : ` (item ${step.item})`;
  const where = step === undefined ? "" : ` at step "${step.id}"${item}`;
  const input = step?.input === undefined ? [] : [`Input of the step: ${JSON.stringify(step.input)}`];
  return [
    `The run ${id} failed${where}: ${error?.message ?? "unknown"} (${error?.code ?? "unknown"})`,
    ...(error?.fix === undefined ? [] : [error.fix]),
    ...input,
    ...(handler?.error === undefined
      ? []
      : [`"${handler.workflow_id}" (on_failure) could not start: ${handler.error.message}`]),
    `Details: millrace runs show ${id}`,
  ].join("\n");
}

/** Says of which effects it is not known whether they happened, without those that the run waits for. */
export const describeInterruptions = ({
  interruptions = [],
  open_interruptions: open = 0,
}: Run): string[] => [
  ...interruptions
    .filter(({ waiting }) => !waiting)
    .map(
      ({ id, step_id: step, item, attempt }) =>
        `Did the effect of "${step}"${item === undefined ? "" : ` (item ${item})`} in attempt ${attempt} happen? millrace interruptions show ${id}`,
    ),
  ...(open > interruptions.length ? [`${open - interruptions.length} more interruptions are open.`] : []),
];

/** Lists the approvals, events, interruptions and times that the run waits for. */
export function describeWaits({ id, approvals = [], steps = [], interruptions = [] }: Run): string {
  return [
    `The run ${id} is waiting:`,
    ...approvals.map(
      (approval) =>
        `- step "${approval.step_id}" needs an approval: ${approval.message} (${approval.progress === undefined ? "" : `${approval.progress}; `}POST /approvals/${approval.id}, or decide_approval)`,
    ),
    ...interruptions
      .filter(({ waiting }) => waiting)
      .map(
        ({ id: interruption, step_id: step }) =>
          `- step "${step}" waits until a person says whether its effect happened: millrace interruptions settle ${interruption} --outcome <outcome>`,
      ),
    ...steps
      .filter(isExpectingEvent)
      .map(({ id: step, event_url: url }) => `- step "${step}" expects an event: POST of JSON to ${url}`),
    ...steps
      .filter(
        ({ id: step, waits_until: at }) =>
          at !== undefined && !approvals.some((approval) => approval.step_id === step),
      )
      .map(({ id: step, waits_until: at }) => `- step "${step}" waits until ${at}`),
    `It continues by itself afterwards, if an executor is running. Show it with: millrace runs show ${id}`,
  ].join("\n");
}
