/** Runs as rows of a table, for CSV files. Apart from the schemas, so that the web interface loads no more. */
import { projectOf } from "./project-ids.ts";
import type { RunSummary } from "./run.ts";

/** The names of the columns, in their order. */
export const RUN_COLUMNS = [
  "id",
  "workflow_id",
  "project",
  "version",
  "status",
  "trigger",
  "created_at",
  "started_at",
  "finished_at",
  "error_step",
  "error_code",
  "error_message",
] as const;

/** @returns a value for each column, undefined where the run has none */
export const toRunRow = ({
  error,
  ...run
}: RunSummary): Readonly<Record<(typeof RUN_COLUMNS)[number], unknown>> => ({
  ...run,
  project: projectOf(run),
  error_step: error?.step_id,
  error_code: error?.code,
  error_message: error?.message,
});
