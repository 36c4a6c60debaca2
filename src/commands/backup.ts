/** `millrace backup`: a verified copy of the state in one file, while the servers run. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { VERSION } from "../app/build.ts";
import { readEnvironment } from "../config/environment.ts";
import { iso, SECOND, systemClock } from "../core/clock.ts";
import type { DatabaseSummary } from "../store/backup.ts";
import { pathExists } from "../store/database-copy.ts";
import { databaseFilePaths } from "../store/state-directory.ts";
import { contentJson, contentLines, type CopyHost, makeCopy } from "./database-copy.ts";
import { requireDatabaseFile } from "./require-state.ts";
import { fileProblem } from "./file-problem.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { dumpInstead } from "./postgres-backup.ts";

const MIB = 1024 * 1024;

/** Writes the state to a new file, and prints what it holds and what it does not hold. */
export async function backup(
  io: Io,
  host: CopyHost,
  file: string,
  options: { json?: boolean },
): Promise<void> {
  const { stateDir, configFile, database } = readEnvironment(io.env);
  if (database !== undefined) throw new CommandError(dumpInstead(database.address, file), EXIT.usage);
  const databaseFile = requireDatabaseFile(stateDir, "back up");
  const target = checkTarget(file, databaseFile);
  const start = performance.now();
  const mark = { at: iso(systemClock.now()), release: VERSION };
  const { backup: contents } = await makeCopy<{ backup: DatabaseSummary }>(
    host,
    { kind: "backup", databaseFile, mark },
    target,
  );
  const ms = Math.round(performance.now() - start);
  const { size: bytes } = statSync(target);
  if (options.json) {
    const report = { file: target, bytes, ms, verified: true, ...contentJson(contents) };
    io.out(`${JSON.stringify(report, null, 2)}\n`);
  } else {
    const took = `${(bytes / MIB).toFixed(1)} MiB in ${(ms / SECOND).toFixed(1)} s`;
    io.out(`${target}: ${took}, verified. Contents:\n${contentLines(contents)}`);
  }
  io.err(
    `Not in the backup: the configuration (${configFile}), the variables or files with secrets, and the databases that ` +
      "workflows query, including the samples. Back them up as well.\n",
  );
}

const withRealDirectory = (path: string): string => join(realpathSync(dirname(path)), basename(path));

/**
 * Returns the absolute path of the file to write.
 * @throws CommandError if it cannot or must not be written
 */
function checkTarget(file: string, databaseFile: string): string {
  if (file === "-" || file === "")
    throw new CommandError(
      "The target must be a file: a backup is verified and synced, which is not possible for a pipe.",
      EXIT.usage,
    );
  const target = resolve(file);
  const directory = dirname(target);
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const missing = ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
    throw new CommandError(
      missing
        ? `The directory ${directory} does not exist. Create it, then try again.`
        : `The directory ${directory} is not writable: ${fileProblem(error)}.`,
    );
  }
  if (databaseFilePaths(withRealDirectory(databaseFile)).includes(withRealDirectory(target))) {
    throw new CommandError(
      `${target} belongs to the database itself. Choose another name, preferably on another disk.`,
      EXIT.usage,
    );
  }
  if (pathExists(target)) {
    const reason = statSync(target, { throwIfNoEntry: false })?.isDirectory()
      ? "is a directory. Name a file in it"
      : "already exists, and a backup never replaces a file. Choose another name, for example with the date in it";
    throw new CommandError(`${target} ${reason}.`, EXIT.usage);
  }
  return target;
}
