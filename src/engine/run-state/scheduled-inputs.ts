/** The inputs of a run that is started for a time of a schedule. */
import type { Definition } from "../../../schemas/workflow-definition.ts";
import { type Clock, iso } from "../../core/clock.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { scheduleInputs } from "../definition/plan.ts";

interface Options {
  context: { clock: Clock };
  runs: Pick<RunReader, "versionDefinition">;
  parse(definition: Record<string, unknown>): Definition;
}

/** @param time the scheduled time, as ISO text @throws StepError of the expressions */
export async function scheduledInputs(
  { context, runs, parse }: Options,
  { workflowId, version }: { workflowId: string; version: number },
  { trigger, time }: { trigger: "schedule" | "backfill"; time: string },
): Promise<Record<string, unknown>> {
  const stored = await runs.versionDefinition(workflowId, version);
  return scheduleInputs(parse(stored ?? {}), {
    id: null,
    workflow_id: workflowId,
    trigger,
    started_at: iso(context.clock.now()),
    scheduled_for: time,
  });
}
