/** Runs the examples of a definition as real runs, before it is published. */
import type { z } from "zod";
import type { Issue } from "../../schemas/problem.ts";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { MAX_WAIT_SECONDS } from "../../schemas/run.ts";
import { nextTurn } from "../../src/core/next-turn.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import { SECOND } from "../../src/core/clock.ts";
import type { PreparedRun } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { truncateText } from "../runs/truncate.ts";
import { runActor } from "../runs/run-actor.ts";
import { hasEnded } from "../runs/run-response.ts";

type Example = NonNullable<z.output<(typeof TOP_FIELDS)["examples"]>>[number];

/** Maximum number of differences that are reported for one example. */
const MAX_DIFFERENCES = 5;
/** Maximum length of a value in a difference, in characters. */
const VALUE_CHARS = 200;
/** The reason with which all runs are stopped when one takes too long. The caller does not wait for their end. */
const STOPPED = { status: "cancelled", by: "publish_workflow" } as const;

/**
 * Runs the examples of a version and compares their outputs with the expected ones.
 * @throws AppError examples_failed with the differences, or with the reason why no example ran; those of prepareRun
 */
export async function runExamples(
  ctx: ToolContext,
  workflowId: string,
  version: number,
  definition: Record<string, unknown>,
): Promise<void> {
  const examples = TOP_FIELDS.examples.parse(definition["examples"]) ?? [];
  if (examples.length === 0) return;
  if ((await ctx.read.jobs.executors()).length === 0) {
    throw examplesFailed(
      [],
      "No executor is running to run the examples. Ask the operator to start one (millrace worker), then publish again.",
    );
  }
  const prepared: PreparedRun[] = [];
  for (const { inputs } of examples) {
    // One after the other, because the inputs can be large.
    await nextTurn();
    prepared.push(
      await ctx.engine.prepareRun({
        workflowId,
        version,
        inputs,
        actor: runActor(ctx),
        trigger: "example",
        trace: ctx.trace,
      }),
    );
  }
  const ids = await ctx.write(async (tx) => {
    for (const run of prepared) await ctx.engine.startRun(tx, run);
    return prepared.map(({ id }) => id);
  }, `examples@${version}`);
  ctx.engine.wake();
  const deadline = performance.now() + MAX_WAIT_SECONDS * SECOND;
  const issues: Issue[] = [];
  for (const [index, example] of examples.entries())
    issues.push(...(await checkExample(ctx, example, index, ids[index]!, deadline)));
  if (issues.length === 0) return;
  const timedOut = issues.some(({ code }) => code === "not_finished");
  if (timedOut) await ctx.write((tx) => stopAll(ctx, tx, ids), `late_examples@${version}`);
  throw examplesFailed(
    issues,
    "Fix the definition or the examples with update_workflow, then publish again (with a new idempotency key).",
  );
}

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

/** Waits for the run of an example and returns its issues. @param deadline by `performance.now()`, in milliseconds */
async function checkExample(
  ctx: ToolContext,
  { name, expect }: Example,
  index: number,
  id: string,
  deadline: number,
): Promise<Issue[]> {
  const path = `examples[${index}]`;
  const label = name === undefined ? "" : ` ("${truncateText(name, 100)}")`;
  await waitForEnd(ctx, id, deadline);
  const run = await ctx.read.runs.find(id);
  if (run === undefined || !hasEnded(run)) {
    const message =
      `${label} did not end within ${MAX_WAIT_SECONDS} s (run ${id}, ${run?.status ?? "deleted"})`.trimStart();
    return [{ path, code: "not_finished", message, fix: "Make the example faster, or remove it." }];
  }
  if (run.status !== "succeeded") {
    const message =
      `${label} ${run.status}: ${truncateText(run.error?.message ?? "it was stopped", 500)} (run ${id})`.trimStart();
    return [{ path, code: "run_failed", message, fix: `get_run (GET /runs/${id}) shows why.` }];
  }
  if (expect === undefined) return [];
  const found = differences(expect, await ctx.read.runs.runOutput(id), `${path}.expect`);
  return found.slice(0, MAX_DIFFERENCES);
}

async function waitForEnd(ctx: ToolContext, id: string, deadline: number): Promise<void> {
  for (;;) {
    const ms = deadline - performance.now();
    if (ms <= 0 || ctx.signal.aborted) return;
    const [summary] = await ctx.read.runs.getStatusSummaries([id]);
    if (summary === undefined || hasEnded(summary)) return;
    await ctx.engine.waitForChange(id, summary.seq, { ms, signal: ctx.signal });
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
  if (canonicalJson(expected) === canonicalJson(actual)) return [];
  return [{ path, code: "differs", message: `is ${preview(actual)}, not ${preview(expected)}` }];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const preview = (value: unknown): string =>
  value === undefined ? "missing" : truncateText(JSON.stringify(value), VALUE_CHARS);
