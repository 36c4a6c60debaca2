/** `millrace backup`: a verified copy of the state in one file, while everything runs. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { VERSION } from "../app/build.ts";
import { readEnvironment } from "../config/environment.ts";
import { iso, SECOND, systemClock } from "../core/clock.ts";
import type { DatabaseSummary } from "../store/backup.ts";
import { databaseFilePaths, pathExists } from "../store/database-copy.ts";
import { contentJson, contentLines, type CopyHost, makeCopy } from "./database-copy.ts";
import { requireState } from "./require-state.ts";
import { CommandError, EXIT, type Io } from "./io.ts";

const MIB = 1024 * 1024;

/** Writes the state to a file that is not there yet, and says what it holds and what it does not. */
export async function backup(
  io: Io,
  host: CopyHost,
  file: string,
  options: { json?: boolean },
): Promise<void> {
  const { stateDir, configFile } = readEnvironment(io.env);
  const databaseFile = requireState(stateDir, "back up");
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
    const told = { file: target, bytes, ms, verified: true, ...contentJson(contents) };
    io.out(`${JSON.stringify(told, null, 2)}\n`);
  } else {
    const took = `${(bytes / MIB).toFixed(1)} MiB in ${(ms / SECOND).toFixed(1)} s`;
    io.out(`${target}: ${took}, verified. It holds\n${contentLines(contents)}`);
  }
  io.err(
    `Not in it: the configuration (${configFile}), the variables or files with secrets, and the databases that workflows ` +
      "query, samples included. Keep them too.\n",
  );
}

const reallyAt = (path: string): string => join(realpathSync(dirname(path)), basename(path));

/**
 * The whole path of the file to make.
 * @throws CommandError when it can't be made, or must not
 */
function checkTarget(file: string, databaseFile: string): string {
  if (file === "-" || file === "")
    throw new CommandError(
      "Name a file: a backup is verified and synced, which a pipe can't be.",
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
        ? `There is no directory ${directory}. Make it, then try again.`
        : `Nothing can be written to ${directory}: ${(error as Error).message}`,
    );
  }
  if (databaseFilePaths(reallyAt(databaseFile)).includes(reallyAt(target))) {
    throw new CommandError(
      `${target} belongs to the database itself. Choose another name, best on another disk.`,
      EXIT.usage,
    );
  }
  if (pathExists(target)) {
    const what = statSync(target, { throwIfNoEntry: false })?.isDirectory()
      ? "is a directory: name a file in it"
      : "is there already, and a backup replaces nothing: choose another name, with the day in it for example";
    throw new CommandError(`${target} ${what}.`, EXIT.usage);
  }
  return target;
}
