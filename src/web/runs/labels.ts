import type { ReactNode } from "react";
import * as texts from "#texts/runs";
import type { RunStep, RunSummary } from "../../../schemas/run.ts";
import type { RunTrigger } from "../../../schemas/run-status.ts";

export const TRIGGER_LABELS: Readonly<Record<RunTrigger, string>> = {
  web: texts.triggerKind({ trigger: "web" }),
  mcp: texts.triggerKind({ trigger: "mcp" }),
  rest: texts.triggerKind({ trigger: "rest" }),
  cli: texts.triggerKind({ trigger: "cli" }),
  schedule: texts.triggerKind({ trigger: "schedule" }),
  webhook: texts.triggerKind({ trigger: "webhook" }),
  backfill: texts.triggerKind({ trigger: "backfill" }),
  workflow: texts.triggerKind({ trigger: "workflow" }),
  on_failure: texts.triggerKind({ trigger: "on_failure" }),
  example: texts.triggerKind({ trigger: "example" }),
};

/** What started a run, and whether it is a trial. */
export const triggerLabel = ({ trigger, trial }: Pick<RunSummary, "trigger" | "trial">): string =>
  trial === true ? texts.triggerOfTrial({ trigger: TRIGGER_LABELS[trigger] }) : TRIGGER_LABELS[trigger];

/**
 * Why a step has an output although it did not run; undefined when it ran.
 * @param link renders a run, as a link to it
 */
export function describeReuse(
  { reused_from: from, given }: RunStep,
  link: (runId: string) => ReactNode,
): ReactNode {
  if (given === true) return texts.reuseGiven;
  if (from === undefined) return undefined;
  return from === "cache" ? texts.reuseCached : texts.reuseOf({ run: link(from) });
}
