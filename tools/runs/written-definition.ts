/** The definition of a run, as it was written. */
import type { RunRecord } from "../../src/core/model.ts";
import type { RunReader } from "../../src/core/run-ports.ts";

/** @returns that of its version, the changed one of a retry, or that of a single step */
export async function writtenDefinition(
  runs: Pick<RunReader, "versionDefinition">,
  { workflowId, version, definition: own }: RunRecord,
): Promise<Record<string, unknown>> {
  if (own !== null) return own;
  // Runs are started only of versions that have a definition.
  return (await runs.versionDefinition(workflowId!, version))!;
}
