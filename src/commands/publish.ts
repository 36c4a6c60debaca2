/** `millrace workflows publish`: publishes a version, after its examples and the backtest that it needs. */
import type { z } from "zod";
import type { PublishedWorkflow as PublishedWorkflowSchema } from "../../schemas/exposure.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { AppError } from "../core/errors.ts";
import { inProcessExecutor, withExecutor } from "./in-process-executor.ts";
import { type Io, issueLine } from "./io.ts";
import { type Operator, withOperator } from "./operator.ts";
import { printJson } from "./project-output.ts";

type PublishedWorkflow = z.output<typeof PublishedWorkflowSchema>;

export interface PublishOptions {
  version?: number;
  acceptDifference?: string[];
  breakCaller?: string[];
  reason?: string;
  json?: boolean;
  config?: string;
}

/** Publishes a version of a workflow, or asks for its review. */
export async function publishOne(
  io: Io,
  workflow: string,
  { version, acceptDifference, breakCaller, reason, json, config }: PublishOptions,
): Promise<void> {
  const own = inProcessExecutor();
  const published = await withOperator(io, { config, executors: own }, (operator) =>
    withExecutor(io, operator, own, () =>
      publishWhenTested(operator, {
        workflow_id: workflow,
        ...(version !== undefined && { version }),
        ...(acceptDifference !== undefined && { accept_differences: acceptDifference }),
        ...(breakCaller !== undefined && { break_callers: breakCaller }),
        ...(reason !== undefined && { reason }),
      }),
    ),
  );
  if (json) return printJson(io, published);
  io.out(`Published version ${published.published_version} of ${published.id}.\n`);
  for (const warning of published.warnings ?? []) io.out(`  warning: ${issueLine(warning)}\n`);
}

/**
 * Publishes a workflow, and waits for the backtest that it needs, however long it takes.
 * @param input of publish_workflow
 */
export async function publishWhenTested(
  { call }: Pick<Operator, "call">,
  input: Readonly<Record<string, unknown>>,
): Promise<PublishedWorkflow> {
  for (;;) {
    try {
      return await call<PublishedWorkflow>(publishWorkflow, input);
    } catch (error) {
      if (!isBeingTested(error)) throw error;
    }
  }
}

const isBeingTested = (error: unknown): boolean =>
  error instanceof AppError &&
  error.code === "backtest_unfinished" &&
  error.details.errors?.some(({ code }) => code === "backtest_unfinished") === true;
