/** What runs are called in words. */
import type { RunStep, RunTrigger } from "../../../schemas/run.ts";

/** What started a run, after "Started by". */
export const TRIGGER_LABELS: Readonly<Record<RunTrigger, string>> = {
  web: "the web interface",
  mcp: "an agent",
  rest: "the REST API",
  cli: "the command line",
  schedule: "its schedule",
  workflow: "another run's step",
  on_failure: "another run's failure",
  example: "an example",
};

/** Why a step did not run, though it has an output; undefined where it ran. */
export function describeReuse({ reused_from: from }: RunStep): { words: string; run?: string } | undefined {
  if (from === undefined) return undefined;
  return from === "cache"
    ? {
        words: "It did not run: an earlier output was still fresh (cache), and nothing it reads had changed.",
      }
    : { words: "It did not run: its output was taken over from", run: from };
}

/** "1 step", "2 steps". */
export const pluralize = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString()} ${n === 1 ? one : many}`;
