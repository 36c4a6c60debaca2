import type { RunStep, RunSummary, RunTrigger } from "../../../schemas/run.ts";

export const TRIGGER_LABELS: Readonly<Record<RunTrigger, string>> = {
  web: "Web interface",
  mcp: "MCP",
  rest: "REST API",
  cli: "Command line",
  schedule: "Schedule",
  webhook: "Webhook",
  backfill: "Backfill",
  workflow: "Parent run",
  on_failure: "Failure of a run",
  example: "Example",
  backtest: "Backtest",
};

/** What started a run, and whether it is a trial. */
export const triggerLabel = ({ trigger, trial }: Pick<RunSummary, "trigger" | "trial">): string =>
  trial === true ? `${TRIGGER_LABELS[trigger]}, trial` : TRIGGER_LABELS[trigger];

/** Why a step has an output although it did not run; undefined when it ran. */
export function describeReuse({
  reused_from: from,
  given,
}: RunStep): { text: string; run?: string } | undefined {
  if (given === true)
    return { text: "Given: the step did not run, because this trial was given its output." };
  if (from === undefined) return undefined;
  return from === "cache"
    ? { text: "Cached: an earlier output is reused because the inputs are unchanged." }
    : { text: "Reused: the output comes from", run: from };
}

/** "1 step", "2 steps". */
export const pluralize = (n: number, singular: string, plural = `${singular}s`): string =>
  `${n.toLocaleString()} ${n === 1 ? singular : plural}`;

/** "2 steps failed", of a run that went on; null without any. */
export const continuedFailuresLabel = ({
  continued_failures: count = 0,
}: Pick<RunSummary, "continued_failures">): string | null =>
  count === 0 ? null : `${pluralize(count, "step")} failed`;

/** "2 steps failed, 1 item failed": what failed in a run and did not end it; null without any. */
export function survivedFailuresLabel(
  run: Pick<RunSummary, "continued_failures"> & { steps: readonly Pick<RunStep, "status" | "items">[] },
): string | null {
  // A step that failed is counted itself.
  const items = run.steps.reduce(
    (sum, { status, items: counts }) => (status === "failed" ? sum : sum + (counts?.failed ?? 0)),
    0,
  );
  const parts = [continuedFailuresLabel(run), items > 0 ? `${pluralize(items, "item")} failed` : null];
  return parts.filter((part) => part !== null).join(", ") || null;
}
