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
