/** Commands that look at a state make none: in a mistyped directory it would seem that everything is lost. */
import { resolve } from "node:path";
import { pathExists } from "../store/database-copy.ts";
import { databaseFileIn, findStateDirectory } from "../store/state-directory.ts";
import { CommandError, EXIT } from "./io.ts";

/**
 * Gives the whole path of the database that is there.
 * @param what the command does with a state, for the message
 * @throws CommandError where there is none; AppError storage_unavailable where the directory can't be used
 */
export function requireState(stateDir: string, what: string): string {
  const databaseFile = databaseFileIn(resolve(stateDir));
  if (findStateDirectory(stateDir) !== undefined && pathExists(databaseFile)) return databaseFile;
  throw new CommandError(
    `There is no state in ${stateDir} to ${what}. Point MILLRACE_STATE_DIR at the directory that Millrace runs with.`,
    EXIT.state,
  );
}
