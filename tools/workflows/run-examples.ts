/** The examples of a definition, run as real runs: what goes live must do what it says. */
import type { z } from "zod";
import type { Issue } from "../../schemas/problem.ts";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { MAX_WAIT_SECONDS } from "../../schemas/run.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import { SECOND } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { truncateText } from "../runs/truncate.ts";
import { runActor } from "../runs/run-actor.ts";
import { hasEnded } from "../runs/run-response.ts";

type Example = NonNullable<z.output<(typeof TOP_FIELDS)["examples"]>>[number];

/** Of one example so many differences are told. */
const MOST_DIFFERENCES = 5;
const VALUE_CHARS = 200;
/** Runs that nobody needs any more are told to end; how that goes is not waited for. */
const STOPPED = { status: "cancelled", by: "publish_workflow" } as const;

/**
 * Runs the examples of a version and compares what they give.
 * @throws AppError examples_failed with what differed, or why they could not be run; those of prepareRun
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
    throw refused(
      [],
      "No executor is running that could run its examples. Have the operator start one (millrace worker), then publish again.",
    );
  }
  const prepared = await Promise.all(
    examples.map(({ inputs }) =>
      ctx.engine.prepareRun({
        workflowId,
        version,
        inputs,
        actor: runActor(ctx),
        trigger: "example",
        trace: ctx.trace,
      }),
    ),
  );
  const ids = await ctx.write(async (tx) => {
    for (const run of prepared) await ctx.engine.startRun(tx, run);
    return prepared.map(({ id }) => id);
  }, `examples@${version}`);
  ctx.engine.wake();
  const until = performance.now() + MAX_WAIT_SECONDS * SECOND;
  const issues: Issue[] = [];
  for (const [index, example] of examples.entries())
    issues.push(...(await issuesOf(ctx, example, index, ids[index]!, until)));
  if (issues.length === 0) return;
  const late = issues.some(({ code }) => code === "not_finished");
  if (late) await ctx.write((tx) => stopAll(ctx, tx, ids), `late_examples@${version}`);
  throw refused(
    issues,
    "Mend the definition or the examples with update_workflow, then publish again (with an idempotency key of its own).",
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

function refused(errors: Issue[], next: string): AppError {
  const told = errors.slice(0, 3).map(({ path, message }) => `${path} ${message}.`);
  return new AppError("examples_failed", ["Nothing was published.", ...told, next].join(" "), { errors });
}

async function issuesOf(
  ctx: ToolContext,
  { name, expect }: Example,
  index: number,
  id: string,
  until: number,
): Promise<Issue[]> {
  const path = `examples[${index}]`;
  const called = name === undefined ? "" : ` ("${truncateText(name, 100)}")`;
  await ended(ctx, id, until);
  const run = await ctx.read.runs.find(id);
  if (run === undefined || !hasEnded(run)) {
    const message =
      `${called} did not end within ${MAX_WAIT_SECONDS} s (run ${id}, ${run?.status ?? "gone"})`.trimStart();
    return [{ path, code: "not_finished", message, fix: "Give the example less to do, or leave it out." }];
  }
  if (run.status !== "succeeded") {
    const message =
      `${called} ${run.status}: ${truncateText(run.error?.message ?? "it was stopped", 500)} (run ${id})`.trimStart();
    return [{ path, code: "run_failed", message, fix: `get_run (GET /runs/${id}) tells more.` }];
  }
  if (expect === undefined) return [];
  const found = differences(expect, await ctx.read.runs.runOutput(id), `${path}.expect`);
  return found.slice(0, MOST_DIFFERENCES);
}

async function ended(ctx: ToolContext, id: string, until: number): Promise<void> {
  for (;;) {
    const ms = until - performance.now();
    if (ms <= 0 || ctx.signal.aborted) return;
    const [seen] = await ctx.read.runs.getStatusSummaries([id]);
    if (seen === undefined || hasEnded(seen)) return;
    await ctx.engine.waitForChange(id, seen.seq, { ms, signal: ctx.signal });
  }
}

/** Where an output is not what was expected. An object may have more fields than were written. */
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
  return [{ path, code: "differs", message: `is ${shown(actual)}, not ${shown(expected)}` }];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const shown = (value: unknown): string =>
  value === undefined ? "missing" : truncateText(JSON.stringify(value), VALUE_CHARS);
