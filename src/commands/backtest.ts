/** `millrace workflows backtest`: runs past runs again with another definition, and says what differs. */
import type { Backtest } from "../../schemas/backtest.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { backtestWorkflow } from "../../tools/backtests/backtest-workflow.ts";
import { cancelBacktest } from "../../tools/backtests/cancel-backtest.ts";
import { getBacktest } from "../../tools/backtests/get-backtest.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { AppError } from "../core/errors.ts";
import { describeVerdict, printBacktest, progressLine } from "./backtest-report.ts";
import { checkText, readText } from "./definition-text.ts";
import { inProcessExecutor, type InProcessExecutor, withExecutor } from "./in-process-executor.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { type Operator, withOperator } from "./operator.ts";
import { progressView } from "./progress-view.ts";
import { printJson } from "./project-output.ts";
import type { RunHost } from "./run.ts";

export interface BacktestOptions {
  file?: string;
  version?: number;
  last: number;
  status?: string;
  reads: string;
  source?: string;
  json?: boolean;
  config?: string;
}

/** Time between two readings of the backtest, in seconds. */
const WAIT_SECONDS = 1;

/**
 * Starts a backtest, waits for its end, and reports it.
 * @throws CommandError with exit code 1 unless no run differs or fails, 130 after Ctrl-C
 */
export async function backtest(
  io: Io,
  host: RunHost,
  workflow: string,
  options: BacktestOptions,
): Promise<void> {
  const stop = new AbortController();
  host.onStop(() => stop.abort());
  const own = inProcessExecutor();
  const { ended, page } = await withOperator(
    io,
    { config: options.config, executors: own },
    async (operator) => {
      const started = await start(operator, workflow, options);
      const last = await withExecutor(io, operator, own, () =>
        follow(io, operator, { started, own, stop: stop.signal }),
      );
      return {
        ended: last,
        page: `${operator.baseUrl}/ui/workflows/${last.workflow_id}/backtests/${last.id}`,
      };
    },
  );
  if (options.json) printJson(io, ended);
  else printBacktest(io, ended, page);
  if (ended.status === "running")
    throw new CommandError(`The backtest ${ended.id} continues: ${page}`, EXIT.interrupted);
  const verdict = describeVerdict(ended);
  if (verdict !== undefined) throw new CommandError(verdict);
}

async function start(
  operator: Operator,
  workflow: string,
  { file, version, last, status, reads, source }: BacktestOptions,
): Promise<Backtest> {
  return operator.call<Backtest>(backtestWorkflow, {
    workflow_id: workflow,
    last,
    reads,
    wait: 0,
    ...(file !== undefined && { definition: await definitionIn(operator, workflow, file) }),
    ...(version !== undefined && { version }),
    ...(status !== undefined && { status }),
    ...(source !== undefined && { source_workflow_id: source }),
  });
}

async function definitionIn(operator: Operator, workflow: string, file: string) {
  const text = readText(file);
  const { id, project } = await operator.call<WorkflowWithDefinition>(getWorkflow, { workflow_id: workflow });
  const { definition } = await checkText(operator, text, file === "-" ? "Standard input" : file, project, id);
  return definition;
}

interface Following {
  started: Backtest;
  own: InProcessExecutor;
  stop: AbortSignal;
}

/** Shows the progress until the backtest has ended, or until `stop`: then it is cancelled if only this process runs it. */
async function follow(io: Io, { call }: Operator, { started, own, stop }: Following): Promise<Backtest> {
  const { id, workflow_id: workflow } = started;
  const path = { workflow_id: workflow, backtest_id: id };
  const show = progressView(io);
  for (let current = started; ;) {
    const { total, pending } = current.runs;
    show({ done: total - pending, total, message: progressLine(current) });
    if (current.status !== "running") return current;
    if (stop.aborted) {
      if (!own.isStarted()) return current;
      return call<Backtest>(cancelBacktest, path).catch((error: unknown) => {
        if (!(error instanceof AppError) || error.code !== "backtest_finished") throw error;
        return call<Backtest>(getBacktest, path);
      });
    }
    current = await call<Backtest>(getBacktest, { ...path, wait: WAIT_SECONDS });
  }
}
