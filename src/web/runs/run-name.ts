import type { RunSummary } from "../../../schemas/run.ts";

/** The name of a run for people: its workflow, or its single step. */
export const runName = ({ workflow_id: workflow, step }: Pick<RunSummary, "workflow_id" | "step">): string =>
  workflow ?? `${step?.type ?? "single"} step ${step?.id ?? ""}`.trimEnd();
