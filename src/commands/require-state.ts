/** Read-only commands create no state: in a mistyped directory it would look as if all data were lost. */
import { resolve } from "node:path";
import type { StateLocation } from "../core/postgres-address.ts";
import { pathExists } from "../store/database-copy.ts";
import { databaseFileIn, findStateDirectory } from "../store/state-directory.ts";
import { CommandError, EXIT } from "./io.ts";

/**
 * Makes sure that there is a state. A database on a server exists in any case: somebody has created it for Millrace.
 * @param purpose what the command does with the state, for the message
 * @throws CommandError if there is none; AppError storage_unavailable if the directory cannot be used
 */
export function requireState({ stateDir, database }: StateLocation, purpose: string): void {
  if (database === undefined) requireDatabaseFile(stateDir, purpose);
}

/**
 * Returns the absolute path of the existing database.
 * @throws CommandError if there is none; AppError storage_unavailable if the directory cannot be used
 */
export function requireDatabaseFile(stateDir: string, purpose: string): string {
  const databaseFile = databaseFileIn(resolve(stateDir));
  if (findStateDirectory(stateDir) !== undefined && pathExists(databaseFile)) return databaseFile;
  throw new CommandError(
    `There is no state in ${stateDir} to ${purpose}. Set MILLRACE_STATE_DIR to the state directory that the servers use.`,
    EXIT.state,
  );
}
