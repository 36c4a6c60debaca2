/** `millrace runs compare`: where two runs differ. */
import type {
  ComparedItem,
  ComparedStep,
  ComparedValue,
  RunComparison,
  StepOfRun,
} from "../../schemas/run-comparison.ts";
import { compareRuns } from "../../tools/runs/compare-runs.ts";
import { alignColumns, formatTimestamp } from "./columns.ts";
import { type Io, paint } from "./io.ts";
import { withOperator } from "./operator.ts";
import { plural } from "./plural.ts";
import { duration } from "./run-view.ts";

/** The fields of a step, and of the run, that are compared, in the order in which they are shown. */
const RUN_FIELDS = ["inputs", "state", "error", "output", "committed"] as const;
const STEP_FIELDS = ["input", "error", "output"] as const;

/**
 * Shows where a run differs from another one.
 * @param other left out, the last run before it of the same workflow that succeeded
 */
export async function showComparison(
  io: Io,
  id: string,
  other: string | undefined,
  { json }: { json?: boolean },
): Promise<void> {
  const input = { run_id: id, ...(other !== undefined && { with: other }) };
  const comparison = await withOperator(io, { requiresStateFor: "compare runs of" }, ({ call }) =>
    call<RunComparison>(compareRuns, input),
  );
  if (json) return io.out(`${JSON.stringify(comparison, null, 2)}\n`);
  io.out(
    linesOf(io, comparison)
      .map((line) => `${line}\n`)
      .join(""),
  );
}

function linesOf(io: Io, comparison: RunComparison): string[] {
  const { bold } = paint(io);
  const { before, after, notes, definition, steps } = comparison;
  const rows = [
    ["", "STEP", "BEFORE", "AFTER"],
    ...steps.map((step) => [step.same ? "=" : "≠", step.id, sideOf(step.before), sideOf(step.after)]),
  ];
  const line = alignColumns(rows);
  return [
    `before  ${runLine(before)}`,
    `after   ${runLine(after)}`,
    ...notes,
    bold(verdictOf(comparison)),
    ...RUN_FIELDS.flatMap((field) => valueLines(field, comparison[field])),
    ...(definition === undefined ? [] : ["definition", ...definitionLines(io, definition.difference)]),
    ...rows.map(line),
    ...steps.flatMap(stepLines),
  ];
}

type ComparedRun = RunComparison["before"];

const runLine = ({
  id,
  workflow_id: workflow,
  step,
  version,
  status,
  trial,
  created_at: at,
  duration_ms: ms,
}: ComparedRun): string =>
  [
    id,
    workflow === null ? `step ${step!.id}` : `${workflow} version ${version}`,
    `${status}${trial === true ? ", trial" : ""}`,
    `${formatTimestamp(at)} UTC`,
    ...(ms === null ? [] : [duration(ms)]),
  ].join("  ");

function verdictOf({ same, complete, first_difference: first }: RunComparison): string {
  if (same) return "They are the same, but for times and durations.";
  if (first === null)
    return complete ? "They do not differ." : "No difference was found in what was compared.";
  const { step_id: step, item, field, path } = first;
  const place = [
    ...(step === undefined ? [] : [`step ${step}`]),
    ...(item === undefined ? [] : [`item ${item}`]),
    path === undefined ? field : `${field} ${path}`,
  ];
  return `First difference: ${place.join(", ")}`;
}

function sideOf(step: StepOfRun | null): string {
  if (step === null) return "not in its definition";
  const { status, attempts, duration_ms: ms, items, given, reused_from: reused } = step;
  return [
    status,
    ...(items === undefined
      ? []
      : [`${items.done}/${items.total}${items.failed > 0 ? `, ${items.failed} failed` : ""}`]),
    ...(ms === null || status === "skipped" ? [] : [duration(ms)]),
    ...(attempts > 1 ? [`attempt ${attempts}`] : []),
    ...(given === true ? ["given"] : []),
    ...(reused === undefined ? [] : [`reused from ${reused}`]),
  ].join("  ");
}

function stepLines(step: ComparedStep): string[] {
  const { items } = step;
  return [
    ...STEP_FIELDS.flatMap((field) => valueLines(`${step.id} ${field}`, step[field])),
    ...(items === undefined || items.differing === 0
      ? []
      : [`${step.id}: ${items.differing} of the first ${plural(items.compared, "item")} differ`]),
    ...(items?.first ?? []).flatMap((item) => itemLines(step.id, item)),
  ];
}

function itemLines(stepId: string, item: ComparedItem): string[] {
  const { before, after } = item;
  const name = `${stepId} item ${item.item}`;
  return [
    ...(before === after ? [] : [`${name}: ${before ?? "not there"} → ${after ?? "not there"}`]),
    ...STEP_FIELDS.flatMap((field) => valueLines(`${name} ${field}`, item[field])),
  ];
}

function valueLines(name: string, value: ComparedValue | undefined): string[] {
  if (value === undefined) return [];
  const { differences, left_out: left } = value;
  return [
    name,
    ...differences.map(
      ({ path, ...sides }) =>
        `  ${path === "" ? "" : `${path}: `}${"before" in sides ? valueOf(sides.before) : "nothing"} → ${"after" in sides ? valueOf(sides.after) : "nothing"}`,
    ),
    ...(left === undefined ? [] : [`  ${left}`]),
  ];
}

/** The beginning of a large value, as the answer has it. */
interface Truncated {
  truncated: true;
  chars: number;
  preview: string;
  ref?: string;
}

/** A value in one line; of a large one the beginning, with its size and its reference. */
function valueOf(value: unknown): string {
  const { truncated, chars, preview, ref } = (value ?? {}) as Partial<Truncated>;
  if (truncated !== true || typeof preview !== "string") return JSON.stringify(value);
  return `${preview}… (${chars} characters${ref === undefined ? "" : `, ref ${ref}`})`;
}

function definitionLines(io: Io, difference: string | null): string[] {
  const { green, red } = paint(io);
  if (difference === null) return ["  The definitions are too long to be compared by line."];
  return difference
    .trimEnd()
    .split("\n")
    .map((line) => `  ${line.startsWith("+") ? green(line) : line.startsWith("-") ? red(line) : line}`);
}
