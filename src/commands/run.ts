/** `millrace run`: starts a run, waits for its end, and reports it. */
import type { z } from "zod";
import type { Run, RunStep } from "../../schemas/run.ts";
import type { DetailedWorkflow } from "../../schemas/workflow.ts";
import { runWorkflow } from "../../tools/runs/run-workflow.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { MINUTE } from "../core/clock.ts";
import { AppError, type ErrorCode } from "../core/errors.ts";
import type { Caller } from "./caller.ts";
import { type FollowResult, followRun, localFeed, type RunFeed, runContinues } from "./follow-run.ts";
import { withExecutor, inProcessExecutor } from "./in-process-executor.ts";
import { namingInputs } from "./input-issues.ts";
import { parseGiven, parseRunInputs } from "./inputs.ts";
import { CommandError, describeError, EXIT, type Io } from "./io.ts";
import { localCaller } from "./local-caller.ts";
import { withOperator } from "./operator.ts";
import { type RemoteServer, remoteServer } from "./remote/server.ts";
import { runView, silentView } from "./run-view.ts";
import { assertNoConfig } from "./with-caller.ts";

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

/** Without --watch, the command ends with code 6 if a step waits longer than this, in milliseconds. */
const SHORT_WAIT_MS = MINUTE;
/** Runs a workflow. @throws CommandError with exit code 1 if it failed or was cancelled, 6 if it waits, 130 after Ctrl-C */
export const run = (io: Io, host: RunHost, workflow: string, options: RunOptions): Promise<void> =>
  startAndFollow(io, host, options, async (caller) => {
    const schema = await inputsSchema(caller, workflow, options.version);
    const inputs = parseRunInputs(options.input, options.inputsFile, schema);
    return namingInputs(schema, inputs, () =>
      caller.call<Run>(runWorkflow, {
        workflow_id: workflow,
        inputs,
        ...(options.version !== undefined && { version: options.version }),
        ...(options.given !== undefined && { given: parseGiven(options.given) }),
        wait: 0,
      }),
    );
  });

/** Starts a run, waits for its end, and reports it. @throws CommandError as for `run` */
export async function startAndFollow(
  io: Io,
  host: RunHost,
  options: Pick<RunOptions, "config" | "watch" | "json">,
  start: (caller: Caller) => Promise<Run>,
): Promise<void> {
  const stop = new AbortController();
  host.onStop(() => stop.abort());
  const view = options.watch ? runView(io) : silentView;
  const follow = (feed: RunFeed) =>
    followRun(feed, { view, stop: stop.signal, endsEarly: options.watch ? () => false : waitsLong });
  const server = remoteServer(io.env);
  const result = await (server === undefined
    ? followHere(io, options.config, start, follow)
    : followThere(io, server, options, start, follow));
  report(io, result, options.json === true);
}

type Follow = (feed: RunFeed) => Promise<FollowResult>;
type Start = (caller: Caller) => Promise<Run>;

async function followHere(
  io: Io,
  config: string | undefined,
  start: Start,
  follow: Follow,
): Promise<FollowResult> {
  const own = inProcessExecutor();
  return withOperator(io, { config, executors: own }, async (operator) => {
    const started = await start(localCaller(operator));
    return withExecutor(io, operator, own, () => follow(localFeed(operator, started.id, own)));
  });
}

async function followThere(
  io: Io,
  server: RemoteServer,
  { config, watch }: Pick<RunOptions, "config" | "watch">,
  start: Start,
  follow: Follow,
): Promise<FollowResult> {
  assertNoConfig(config);
  const { remoteCaller } = await import("./remote/remote-caller.ts");
  const { remoteFeed } = await import("./remote/remote-feed.ts");
  const caller = remoteCaller(server);
  const { feed, close } = remoteFeed(caller, (await start(caller)).id, (error) => {
    // The lines of --watch on a terminal are drawn again over the last ones.
    if (!(watch && io.errTerminal)) io.err(`${describeError(error).message} Trying again.\n`);
  });
  try {
    return await follow(feed);
  } finally {
    close();
  }
}

/** The schema of the inputs of a version, if the caller may read it; without it the values are read as JSON where they can be. */
async function inputsSchema(
  { call }: Caller,
  id: string,
  version: number | undefined,
): Promise<Record<string, unknown> | null> {
  const found = await call<z.output<typeof DetailedWorkflow>>(getWorkflow, {
    workflow_id: id,
    ...(version !== undefined && { version }),
  }).catch((error: unknown) => {
    if (error instanceof AppError && UNREADABLE.has(error.code)) return undefined;
    throw error;
  });
  const definition = found?.requested_version?.definition ?? found?.published_definition ?? found?.definition;
  return (definition?.["inputs"] ?? null) as Record<string, unknown> | null;
}

/** Errors that starting the run explains better: the version is unknown, or the key may run workflows but not read them. */
const UNREADABLE: ReadonlySet<ErrorCode> = new Set(["missing_scope", "not_permitted", "version_not_found"]);

/** Whether the run needs an approval or an event, or waits for longer than a person at a terminal would. */
function waitsLong({ status, approvals = [], steps = [] }: Run): boolean {
  if (status !== "waiting") return false;
  const until = steps.flatMap(({ waits_until: at }) => (at === undefined ? [] : [Date.parse(at)]));
  const expectsEvent = steps.some(isExpectingEvent);
  return (
    approvals.length > 0 ||
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
      if (interrupted) throw new CommandError(runContinues(finalRun.id), EXIT.interrupted);
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

/** Lists the approvals, events and times that the run waits for. */
export function describeWaits({ id, approvals = [], steps = [] }: Run): string {
  return [
    `The run ${id} is waiting:`,
    ...approvals.map(
      (approval) =>
        `- step "${approval.step_id}" needs an approval: ${approval.message} (${approval.progress === undefined ? "" : `${approval.progress}; `}millrace approvals show ${approval.id})`,
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
