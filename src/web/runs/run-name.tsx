import type { RunSummary } from "../../../schemas/run.ts";
import { Id } from "../ui/id.tsx";
import { useWorkflowText, WorkflowName } from "../workflows/names.tsx";

type NamedRun = Pick<RunSummary, "workflow_id" | "step">;

/** The name of a run for people: its workflow, or its single step. */
export function RunName({ run: { workflow_id: workflow, step } }: { run: NamedRun }) {
  if (workflow !== null) return <WorkflowName id={workflow} />;
  return (
    <>
      {step?.type ?? "single"} step
      {step?.id !== undefined && (
        <>
          {" "}
          <Id>{step.id}</Id>
        </>
      )}
    </>
  );
}

/** The same as text, for the title of the document; empty without a run. */
export function useRunText(run: NamedRun | undefined): string {
  const name = useWorkflowText(run?.workflow_id ?? null);
  if (run === undefined) return "";
  const { workflow_id: workflow, step } = run;
  return workflow === null ? `${step?.type ?? "single"} step ${step?.id ?? ""}`.trimEnd() : name;
}
