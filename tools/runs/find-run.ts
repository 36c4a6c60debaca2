import { AppError } from "../../src/core/errors.ts";
import type { RunRecord } from "../../src/core/model.ts";
import type { RunReader } from "../../src/core/run-ports.ts";

/** What programs write where they have no id. */
const NO_ID = /^(?:null|none|undefined|nil)$/i;

/**
 * Finds a run.
 * @param path the field of the input that names it
 * @throws AppError run_not_found
 */
export async function findRun(
  runs: Pick<RunReader, "find">,
  id: string,
  path = "run_id",
): Promise<RunRecord> {
  const found = await runs.find(id);
  if (found !== undefined) return found;
  if (NO_ID.test(id))
    throw new AppError(
      "run_not_found",
      `"${id}" is a text, and no id of a run: a call that is refused starts no run. Correct that call, or ` +
        'call list_runs with {"limit": 5} (GET /runs?limit=5), which lists the newest runs.',
    );
  throw new AppError(
    "run_not_found",
    `There is no run "${id.slice(0, 100)}". list_runs (GET /runs) lists runs; old ones are deleted.`,
    { errors: [{ path, code: "not_found", message: "is not the id of a run" }] },
  );
}
