/** Runs the examples of a definition as trials, before it is published: none of their steps has an effect. */
import type { z } from "zod";
import type { ReviewExample } from "../../schemas/review.ts";
import type { Issue } from "../../schemas/problem.ts";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { MAX_WAIT_SECONDS, type RunError } from "../../schemas/run.ts";
import { nextTurn } from "../../src/core/next-turn.ts";
import { SECOND } from "../../src/core/clock.ts";
import type { PreparedRun } from "../../src/core/engine-port.ts";
import type { Trial } from "../../src/core/model.ts";
import { AppError } from "../../src/core/errors.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { valueKey } from "../../src/core/value-key.ts";
import { callerMask } from "../runs/caller-mask.ts";
import { resolveGiven } from "../runs/given-outputs.ts";
import { truncateText } from "../runs/truncate.ts";
import { runActor, runCaller } from "../runs/run-actor.ts";
import { hasEnded } from "../runs/run-response.ts";

type Example = NonNullable<z.output<(typeof TOP_FIELDS)["examples"]>>[number];

/** Maximum number of differences that are reported for one example. */
const MAX_DIFFERENCES = 5;
/** Maximum length of a value in a difference, in characters. */
const VALUE_CHARS = 200;
/** The reason with which all runs are stopped when one takes too long. The caller does not wait for their end. */
const STOPPED = { status: "cancelled", by: "publish_workflow" } as const;

export interface CheckedExamples {
  /** All of them passed, as far as they were checked. */
  examples: ReviewExample[];
  /** Those that stopped at a step with effects. */
  warnings: Issue[];
}

/**
 * Runs the examples of a version and compares their outputs with the expected ones.
 * @throws AppError examples_failed with the differences, or with the reason why no example ran; those of prepareRun
 */
export async function runExamples(
  ctx: ToolContext,
  workflowId: string,
  version: number,
  definition: Record<string, unknown>,
): Promise<CheckedExamples> {
  const examples = TOP_FIELDS.examples.parse(definition["examples"]) ?? [];
  if (examples.length === 0) return { examples: [], warnings: [] };
  if ((await ctx.read.jobs.executors()).length === 0) {
    throw examplesFailed(
      [],
      "No executor is running to run the examples. Ask the operator to start one (millrace worker), then publish again.",
    );
  }
  const prepared: PreparedRun[] = [];
  await assertShown(ctx, workflowId, definition);
  const trials = await trialsOf(ctx, workflowId, definition, examples);
  for (const [index, { inputs }] of examples.entries()) {
    // One after the other, because the inputs can be large.
    await nextTurn();
    prepared.push(
      await ctx.engine.prepareRun({
        workflowId,
        caller: runCaller(ctx),
        version,
        inputs,
        actor: runActor(ctx),
        trigger: "example",
        trial: trials[index]!,
        trace: ctx.trace,
      }),
    );
  }
  for (const [id, called] of Object.entries(prepared[0]!.pins ?? {}))
    await assertShown(ctx, id, await unscoped(ctx.read).runs.versionDefinition(id, called));
  const ids = await ctx.write(async (tx) => {
    for (const run of prepared) await ctx.engine.startRun(tx, run);
    return prepared.map(({ id }) => id);
  }, `examples@${version}`);
  ctx.engine.wake();
  const deadline = performance.now() + MAX_WAIT_SECONDS * SECOND;
  const issues: Issue[] = [];
  const checked: CheckedExamples = { examples: [], warnings: [] };
  for (const [index, example] of examples.entries()) {
    const id = ids[index]!;
    const found = await checkExample(ctx, example, index, id, deadline);
    // The error shows the output, or why the run failed.
    if (found.issues.length > 0) await ctx.recordRead(id);
    issues.push(...found.issues);
    if (found.stoppedAt !== undefined) checked.warnings.push(notChecked(example, index, found.stoppedAt));
    checked.examples.push(passed(example, id, found.stoppedAt?.stepId));
  }
  if (issues.length === 0) return checked;
  const timedOut = issues.some(({ code }) => code === "not_finished");
  if (timedOut) await ctx.write((tx) => stopAll(ctx, tx, ids), `late_examples@${version}`);
  throw examplesFailed(
    issues,
    "Fix the definition or the examples with update_workflow, then publish again (with a new idempotency key).",
  );
}

/**
 * Refuses to run a definition, and the state of its workflow, that hold an event URL which answers hide from the caller: its expressions
 * could show the URL in another form.
 * @throws AppError examples_failed
 */
async function assertShown(
  ctx: ToolContext,
  workflowId: string,
  definition: Record<string, unknown> | null,
): Promise<void> {
  const values = { definition, state: await unscoped(ctx.read).workflowStates.find(workflowId) };
  if ((await callerMask(ctx)(values)) === values) return;
  throw examplesFailed(
    [
      {
        path: "examples",
        code: "not_permitted",
        message:
          "can't run for you: a workflow that takes part holds the URL of an event, which you can't see",
        fix: "Remove the URL from its definition or state, or ask somebody who may run things there to publish.",
      },
    ],
    "None of them ran.",
  );
}

/** What the examples give and assert. @throws AppError examples_failed */
async function trialsOf(
  ctx: ToolContext,
  workflowId: string,
  definition: Record<string, unknown>,
  examples: readonly Example[],
): Promise<Trial[]> {
  const trials: Trial[] = [];
  const issues: Issue[] = [];
  for (const [index, { given = {}, assert }] of examples.entries()) {
    // Outputs of other workflows would become readable to those who can read this one.
    const resolved = await resolveGiven(ctx, given, {
      path: `examples[${index}].given`,
      definition,
      workflowId,
    });
    if ("issues" in resolved) issues.push(...resolved.issues);
    else trials.push({ given: resolved.given, assert });
  }
  if (issues.length === 0) return trials;
  throw examplesFailed(issues, "Correct what the examples give with update_workflow, then publish again.");
}

/** The step that an example stopped at, and why. */
interface Stop {
  stepId: string;
  error: RunError;
}

const labelOf = ({ name }: Example): string => (name === undefined ? "" : `("${truncateText(name, 100)}") `);

const notChecked = (example: Example, index: number, { stepId, error }: Stop): Issue => ({
  path: `examples[${index}]`,
  code: "not_checked",
  message: `${labelOf(example)}was checked up to "${stepId}" only. ${truncateText(error.message, 500)}`,
  fix: error.fix ?? `Give the output of "${stepId}" in given.`,
});

const passed = ({ name, expect }: Example, runId: string, stoppedAt: string | undefined): ReviewExample => ({
  ...(name !== undefined && { name }),
  run_id: runId,
  compared: expect !== undefined && stoppedAt === undefined,
  ...(stoppedAt !== undefined && { checked_up_to: stoppedAt }),
});

async function stopAll(
  ctx: ToolContext,
  tx: Parameters<Parameters<ToolContext["write"]>[0]>[0],
  ids: readonly string[],
) {
  for (const id of ids) await ctx.engine.stopRun(tx, id, STOPPED);
  return null;
}

function examplesFailed(errors: Issue[], next: string): AppError {
  const reasons = errors.slice(0, 3).map(({ path, message }) => `${path} ${message}.`);
  return new AppError("examples_failed", ["Nothing was published.", ...reasons, next].join(" "), { errors });
}

/** Waits for the run of an example and checks its end. @param deadline by `performance.now()`, in milliseconds */
async function checkExample(
  ctx: ToolContext,
  example: Example,
  index: number,
  id: string,
  deadline: number,
): Promise<{ issues: Issue[]; stoppedAt?: Stop }> {
  const path = `examples[${index}]`;
  const { expect } = example;
  await waitForEnd(ctx, id, deadline);
  const run = await ctx.read.runs.find(id);
  if (run === undefined || !hasEnded(run)) {
    const message = `${labelOf(example)}did not end within ${MAX_WAIT_SECONDS} s (run ${id}, ${run?.status ?? "deleted"})`;
    const fix =
      "Make the example faster, give the output of the step that takes long, or remove the example.";
    return { issues: [{ path, code: "not_finished", message, fix }] };
  }
  const { error } = run;
  if (error?.code === "not_given" && error.step_id !== undefined)
    return { issues: [], stoppedAt: { stepId: error.step_id, error } };
  if (error?.code === "assert_failed" && error.step_id === undefined) {
    const assertion = `${path}.assert[${String(error.details?.["assert"])}]`;
    return { issues: [{ path: assertion, code: error.code, message: `${error.message} (run ${id})` }] };
  }
  if (run.status !== "succeeded") {
    const message = `${labelOf(example)}${run.status}: ${truncateText(error?.message ?? "it was stopped", 500)} (run ${id})`;
    return {
      issues: [{ path, code: "run_failed", message, fix: `get_run (GET /runs/${id}) shows why.` }],
    };
  }
  if (expect === undefined) return { issues: [] };
  const found = differences(expect, await ctx.read.runs.runOutput(id), `${path}.expect`);
  return { issues: found.slice(0, MAX_DIFFERENCES) };
}

async function waitForEnd(ctx: ToolContext, id: string, deadline: number): Promise<void> {
  for (;;) {
    const ms = deadline - performance.now();
    if (ms <= 0 || ctx.signal.aborted) return;
    const [summary] = await ctx.read.runs.getStatusSummaries([id]);
    if (summary === undefined || hasEnded(summary)) return;
    await ctx.engine.waitForChange(id, summary.seq, { ms, signal: ctx.signal, until: hasEnded });
  }
}

/** Compares an output with the expected one. Objects may have further fields. */
function differences(expected: unknown, actual: unknown, path: string): Issue[] {
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return expected.flatMap((item: unknown, index) => differences(item, actual[index], `${path}[${index}]`));
  }
  if (isObject(expected) && isObject(actual)) {
    return Object.entries(expected).flatMap(([key, value]) =>
      differences(value, actual[key], `${path}.${key}`),
    );
  }
  if (valueKey(expected) === valueKey(actual)) return [];
  return [{ path, code: "differs", message: `is ${preview(actual)}, not ${preview(expected)}` }];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const preview = (value: unknown): string =>
  value === undefined ? "missing" : truncateText(JSON.stringify(value), VALUE_CHARS);
