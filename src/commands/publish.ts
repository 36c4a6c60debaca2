/** `millrace workflows publish`: publishes a version, after its examples and the backtest that it needs. */
import { setTimeout as delay } from "node:timers/promises";
import type { z } from "zod";
import type { PublishedWorkflow as PublishedWorkflowSchema } from "../../schemas/exposure.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { SECOND } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { progressView } from "./progress-view.ts";
import { inProcessExecutor, withExecutor } from "./in-process-executor.ts";
import { type Io, issueLine } from "./io.ts";
import { type Operator, withOperator } from "./operator.ts";
import { printJson } from "./project-output.ts";

type PublishedWorkflow = z.output<typeof PublishedWorkflowSchema>;

export interface PublishOptions {
  version?: number;
  acceptDifference?: string[];
  breakCaller?: string[];
  json?: boolean;
  config?: string;
}

/** Publishes a version of a workflow. */
export async function publishOne(
  io: Io,
  workflow: string,
  { version, acceptDifference, breakCaller, json, config }: PublishOptions,
): Promise<void> {
  const own = inProcessExecutor();
  const published = await withOperator(io, { config, executors: own }, (operator) =>
    withExecutor(io, operator, own, () =>
      publishWhenTested(io, operator, {
        workflow_id: workflow,
        ...(version !== undefined && { version }),
        ...(acceptDifference !== undefined && { accept_differences: acceptDifference }),
        ...(breakCaller !== undefined && { break_callers: breakCaller }),
      }),
    ),
  );
  if (json) return printJson(io, published);
  io.out(`Published version ${published.published_version} of ${published.id}.\n`);
  for (const warning of published.warnings ?? []) io.out(`  warning: ${issueLine(warning)}\n`);
}

/** Time between two requests, in milliseconds: the answer comes at once while the services are closed. */
const PAUSE_MS = SECOND;

/**
 * Publishes a workflow, and waits for the backtest that it needs, however long it takes. Says on standard error how far that is.
 * @param input of publish_workflow
 * @param pause waits between two requests
 */
export async function publishWhenTested(
  io: Io,
  { call }: Pick<Operator, "call">,
  input: Readonly<Record<string, unknown>> & { workflow_id: string },
  pause: () => Promise<void> = () => delay(PAUSE_MS),
): Promise<PublishedWorkflow> {
  let show = progressView(io);
  let shown: string | undefined;
  for (;;) {
    try {
      return await call<PublishedWorkflow>(publishWorkflow, input, (progress) =>
        show({ ...progress, message: `Backtest of ${input.workflow_id}: ${progress.message}` }),
      );
    } catch (error) {
      const text = whyUnfinished(error);
      if (text === undefined) throw error;
      // The progress has the counts.
      const key = text.replaceAll(/\d+ of \d+/g, "");
      if (key !== shown) {
        io.err(`${text}\n`);
        // A line that is redrawn must be the last one.
        show = progressView(io);
      }
      shown = key;
    }
    await pause();
  }
}

/** What publishing waits for, without the advice to wait; undefined where it waits for nothing. */
function whyUnfinished(error: unknown): string | undefined {
  if (!(error instanceof AppError) || error.code !== "backtest_unfinished") return undefined;
  const running = error.details.errors?.find(({ code }) => code === "backtest_unfinished");
  return (
    running &&
    error.message
      .replace("Nothing was published. ", "")
      .replace(running.fix ?? "", "")
      .trim()
  );
}
