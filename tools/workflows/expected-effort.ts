/** What a run of a workflow needs, as its past runs say. */
import type { WorkflowPlan } from "../../schemas/workflow-plan.ts";
import type { RunRecord, StepRecord } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";

type Expected = NonNullable<WorkflowPlan["expected"]>;
type Runs = ToolContext["read"]["runs"];

/** Number of past runs that are read. */
const SAMPLE = 10;
/** Length of the end of an output in which its number of rows is searched, in characters of JSON. */
const TAIL_CHARS = 200;
/** Maximum number of attempts of a step whose cost is added. */
const MAX_ATTEMPTS = 20;

/** The median; of an even number of values the lower one, so that it is one that was observed. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2) - 1]!;

const secondsOf = ({ startedAt, finishedAt }: Pick<RunRecord, "startedAt" | "finishedAt">): number =>
  startedAt === null || finishedAt === null ? 0 : (Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000;

/**
 * Derives the expected time, rows and cost from the newest runs that succeeded.
 * @param steps those of the version that is planned, by id with their types
 */
export async function expectedEffort(
  { read: { runs } }: Pick<ToolContext, "read">,
  workflowId: string,
  steps: readonly { id: string; type: string }[],
): Promise<Expected | null> {
  const filter = { workflowId, status: ["succeeded" as const], isTrial: false };
  const { items } = await runs.page({ filter, after: null, limit: SAMPLE });
  if (items.length === 0) return null;
  const usages = [];
  const observed = new Map<string, { seconds: number[]; rows: number[]; costs: number[] }>(
    steps.map(({ id }) => [id, { seconds: [], rows: [], costs: [] }]),
  );
  const types = new Map(steps.map(({ id, type }) => [id, type]));
  for (const run of items) {
    usages.push((await runs.usage(run.id)) ?? { input_tokens: 0, output_tokens: 0, cost: null });
    for (const record of await runs.steps(run.id)) {
      const seen = observed.get(record.stepId);
      if (seen === undefined || record.state !== "succeeded" || record.reusedFrom !== null) continue;
      seen.seconds.push(secondsOf(record));
      const type = types.get(record.stepId);
      const rows = type === "sql" ? await rowsOf(runs, run.id, record) : undefined;
      if (rows !== undefined) seen.rows.push(rows);
      const cost = type === "model" ? await costOf(runs, run.id, record) : undefined;
      if (cost !== undefined) seen.costs.push(cost);
    }
  }
  const costs = usages.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  return {
    runs: items.length,
    seconds: median(items.map(secondsOf)),
    cost: costs.length === 0 ? null : median(costs),
    input_tokens: median(usages.map((usage) => usage.input_tokens)),
    output_tokens: median(usages.map((usage) => usage.output_tokens)),
    steps: [...observed].flatMap(([id, { seconds, rows, costs: stepCosts }]) =>
      seconds.length === 0
        ? []
        : [
            {
              id,
              seconds: median(seconds),
              ...(rows.length > 0 && { rows: median(rows) }),
              ...(stepCosts.length > 0 && { cost: median(stepCosts) }),
            },
          ],
    ),
  };
}

/** The number of rows that a query returned, which its output has at the end; undefined for a fan-out. */
async function rowsOf(runs: Runs, runId: string, { stepId, items }: StepRecord): Promise<number | undefined> {
  if (items !== null) return undefined;
  const at = { runId, what: "step_output", stepId, item: null } as const;
  const size = (await runs.valueText(at, { from: 0, chars: 0 }))?.chars ?? 0;
  const end = await runs.valueText(at, { from: Math.max(0, size - TAIL_CHARS), chars: TAIL_CHARS });
  const count = [...(end?.text ?? "").matchAll(/"row_count":(\d+)/g)].at(-1)?.[1];
  return count === undefined ? undefined : Number(count);
}

/** What the model of a step cost in all attempts; undefined for a fan-out, and without a price. */
async function costOf(runs: Runs, runId: string, { stepId, items }: StepRecord): Promise<number | undefined> {
  if (items !== null) return undefined;
  const attempts = await runs.lastAttempts({ runId, stepId, item: null }, MAX_ATTEMPTS);
  const costs = attempts.flatMap(({ usage }) => (typeof usage?.cost === "number" ? [usage.cost] : []));
  return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
}
