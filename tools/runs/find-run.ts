import { AppError } from "../../src/core/errors.ts";
import type { RunRecord } from "../../src/core/model.ts";
import type { RunReader } from "../../src/core/run-ports.ts";

/** What programs write where they have no id. */
const NO_ID = /^(?:null|none|undefined|nil)$/i;

/**
 * Finds a run.
 * @throws AppError run_not_found
 */
export async function findRun(runs: Pick<RunReader, "find">, id: string): Promise<RunRecord> {
  const found = await runs.find(id);
  if (found !== undefined) return found;
  if (NO_ID.test(id))
    throw new AppError(
      "run_not_found",
      `run_id is the text "${id}", which is no id: a call that is refused starts no run. ` +
        'list_runs with {"limit": 5} (GET /runs?limit=5) lists the newest runs.',
      {
        errors: [
          {
            path: "run_id",
            code: "not_found",
            message: "is no id",
            fix: "Correct the call that should have started the run, or call list_runs.",
          },
        ],
      },
    );
  throw new AppError(
    "run_not_found",
    `There is no run "${id.slice(0, 100)}". list_runs (GET /runs) lists runs; old ones are deleted.`,
    { errors: [{ path: "run_id", code: "not_found", message: "is not the id of a run" }] },
  );
}
