import { z } from "zod";
import { FINAL_STATUSES, RunId } from "../../schemas/run.ts";
import {
  type ComparedStep,
  type ComparedValue,
  type FirstDifference,
  OtherRunId,
  RunComparison,
} from "../../schemas/run-comparison.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { RunRecord } from "../../src/core/model.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { writtenDifference } from "../reviews/version-difference.ts";
import { callerMask } from "./caller-mask.ts";
import { compareSteps, durationOf } from "./compare-steps.ts";
import {
  compareGiven,
  compareRecorded,
  isDifferent,
  isUsedUp,
  newBudget,
  type Sides,
} from "./compare-values.ts";
import { findRun } from "./find-run.ts";
import { toRunSummary } from "./run-response.ts";
import { writtenDefinition } from "./written-definition.ts";

const RUN_VALUES = ["inputs", "state", "output", "committed"] as const;

export const compareRuns = defineTool({
  name: "compare_runs",
  title: "Compare two runs",
  description:
    "Compares a run with another one, or with the last one before it that succeeded: definitions, inputs, each step's " +
    "status, duration, input and output, and where they first part.",
  route: "GET /runs/:run_id/compare",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["run_not_found"],
  input: z.strictObject({ run_id: RunId, with: OtherRunId }),
  output: RunComparison,
  async run({ run_id, with: other }, ctx) {
    const after = await findRun(ctx.read.runs, run_id);
    const before =
      other === undefined ? await lastGoodRun(ctx, after) : await findRun(ctx.read.runs, other, "with");
    // The entry of the answer itself names only the run of the route.
    if (before.id !== after.id) await ctx.recordRead(before.id);
    return compare(ctx, { before, after });
  },
});

/**
 * Finds the last run of the same workflow that was created before a run and succeeded, no trial.
 * @throws AppError invalid_input if there is none
 */
async function lastGoodRun({ read }: ToolContext, run: RunRecord): Promise<RunRecord> {
  const { id, workflowId, createdAt } = run;
  const filter = { workflowId: workflowId ?? undefined, status: ["succeeded"], isTrial: false } as const;
  const { items } =
    workflowId === null ? { items: [] } : await read.runs.page({ filter, after: [createdAt, id], limit: 1 });
  if (items[0] !== undefined) return items[0];
  const message =
    workflowId === null
      ? `is missing: ${id} is a run of a single step, so no earlier run is like it`
      : `is missing: no earlier run of ${workflowId} has succeeded`;
  const fix = "Give the id of the run to compare with; list_runs (GET /runs) lists runs.";
  throw invalidInput([{ path: "with", code: "missing", message, fix }]);
}

async function compare(ctx: ToolContext, runs: Sides<RunRecord>): Promise<z.input<typeof RunComparison>> {
  const budget = newBudget();
  const notes = notesOf(runs);
  const ids = { before: runs.before.id, after: runs.after.id };
  const values: Partial<Record<(typeof RUN_VALUES)[number], ComparedValue>> = {};
  // Before the steps, which may use up what the comparison reads.
  for (const what of RUN_VALUES) {
    const compared = await compareRecorded(ctx.read.runs, budget, ids, { before: what, after: what });
    if (compared !== undefined) values[what] = compared;
  }
  const mask = callerMask(ctx);
  const error = compareGiven(budget, {
    before: await mask(runs.before.error ?? undefined),
    after: await mask(runs.after.error ?? undefined),
  });
  const definition = await compareDefinitions(ctx, runs);
  const steps = await compareSteps(ctx, runs, budget, notes);
  if (isUsedUp(budget))
    notes.push("The runs have more values than one request compares: those of later steps are left out.");
  const parts = { ...values, ...(error !== undefined && { error }), ...(definition && { definition }) };
  const first = firstDifference(parts, steps);
  const isStatusSame = runs.before.status === runs.after.status;
  return {
    before: summaryOf(runs.before),
    after: summaryOf(runs.after),
    same: first === null && isStatusSame && budget.isComplete,
    complete: budget.isComplete,
    notes,
    first_difference: first ?? (isStatusSame ? null : { field: "status" }),
    ...parts,
    steps,
  };
}

function notesOf({ before, after }: Sides<RunRecord>): string[] {
  const unfinished = [before, after].filter(({ status }) => !FINAL_STATUSES.has(status));
  return [
    ...(before.id === after.id ? ["A run is compared with itself."] : []),
    ...(before.workflowId === after.workflowId ? [] : ["They are runs of different workflows."]),
    ...new Set(
      unfinished.map(({ id, status }) => `${id} has not ended (${status}): it is compared as it is now.`),
    ),
  ];
}

const summaryOf = (run: RunRecord) => ({
  ...toRunSummary(run),
  duration_ms: durationOf(run.startedAt, run.finishedAt),
});

async function compareDefinitions(
  { read }: ToolContext,
  { before, after }: Sides<RunRecord>,
): Promise<RunComparison["definition"]> {
  const [old, current] = await Promise.all([
    writtenDefinition(read.runs, before),
    writtenDefinition(read.runs, after),
  ]);
  if (canonicalJson(old) === canonicalJson(current)) return undefined;
  return { difference: await writtenDifference(old, current) };
}

type Parts = Partial<Record<"inputs" | "state" | "output" | "committed" | "error", ComparedValue>> &
  Pick<RunComparison, "definition">;

/** In the order in which a run goes: what it was given, its steps, what it returned. */
function firstDifference(parts: Parts, steps: readonly ComparedStep[]): FirstDifference | null {
  return (
    firstOf(parts, ["inputs", "state"]) ??
    steps.map(firstOfStep).find((found) => found !== null) ??
    firstOf(parts, ["error", "output", "committed"]) ??
    (parts.definition === undefined ? null : { field: "definition" })
  );
}

function firstOfStep(step: ComparedStep): FirstDifference | null {
  if (step.same) return null;
  const ref = { step_id: step.id };
  if (step.before === null || step.after === null) return { ...ref, field: "definition" };
  const input = firstOf(step, ["input"]);
  if (input !== null) return { ...ref, ...input };
  const [item] = step.items?.first ?? [];
  if (item !== undefined) {
    const status = item.before === item.after ? null : ({ field: "status" } as const);
    const found = firstOf(item, ["input"]) ?? status ?? firstOf(item, ["error", "output"]);
    return { ...ref, item: item.item, ...found! };
  }
  if (step.before.status !== step.after.status) return { ...ref, field: "status" };
  // Without any other difference, the fan-outs have lists of different lengths.
  return { ...ref, ...(firstOf(step, ["error", "output"]) ?? { field: "input" }) };
}

function firstOf<F extends FirstDifference["field"]>(
  parts: Partial<Record<F, ComparedValue | undefined>>,
  fields: readonly F[],
): FirstDifference | null {
  for (const field of fields) {
    const path = parts[field]?.differences[0]?.path;
    if (isDifferent(parts[field])) return { field, ...(path !== undefined && path !== "" && { path }) };
  }
  return null;
}
