/** `millrace workflows plan`: what a run would do. */
import type { WorkflowPlan } from "../../schemas/workflow-plan.ts";
import { planWorkflow } from "../../tools/workflows/plan-workflow.ts";
import type { Io } from "./io.ts";
import { withCaller } from "./with-caller.ts";

/** Prints the plan of a run in words, or as JSON. */
export async function showPlan(
  io: Io,
  workflow: string,
  { version, json }: { version?: number; json?: boolean },
): Promise<void> {
  const plan = await withCaller(io, { requiresStateFor: "plan a run of" }, ({ call }) =>
    call<WorkflowPlan>(planWorkflow, {
      workflow_id: workflow,
      ...(version !== undefined && { version }),
    }),
  );
  io.out(json ? `${JSON.stringify(plan, null, 2)}\n` : `${plan.words}\n`);
}
