import { AppError } from "../../src/core/errors.ts";
import type { RunRecord } from "../../src/core/model.ts";
import type { RunReader } from "../../src/core/run-ports.ts";

/**
 * Finds a run.
 * @throws AppError run_not_found
 */
export async function findRun(runs: Pick<RunReader, "find">, id: string): Promise<RunRecord> {
  const found = await runs.find(id);
  if (found !== undefined) return found;
  throw new AppError(
    "run_not_found",
    `There is no run "${id.slice(0, 100)}". list_runs (GET /runs) lists runs; old ones are deleted.`,
    { errors: [{ path: "run_id", code: "not_found", message: "is not the id of a run" }] },
  );
}
