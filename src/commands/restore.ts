/** `millrace restore`: creates the state from a backup, if there is none. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { readEnvironment } from "../config/environment.ts";
import { iso, systemClock } from "../core/clock.ts";
import { pathExists } from "../store/database-copy.ts";
import { databaseFilePaths } from "../store/state-directory.ts";
import { openStateDirectory } from "../store/state-directory.ts";
import { contentJson, contentLines, type CopyAnswer, type CopyHost, makeCopy } from "./database-copy.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { restoreInstead } from "./postgres-backup.ts";

type Restored = Extract<CopyAnswer, { restore: unknown }>;

/** Creates the database of the state directory from a backup, and prints what it holds and what it removed. */
export async function restore(
  io: Io,
  host: CopyHost,
  file: string,
  options: { json?: boolean },
): Promise<void> {
  const source = resolve(file);
  if (!statSync(source, { throwIfNoEntry: false })?.isFile())
    throw new CommandError(`${source} is not a file. Name the backup to restore.`, EXIT.usage);
  const { stateDir, database } = readEnvironment(io.env);
  if (database !== undefined) throw new CommandError(restoreInstead(database.address, source), EXIT.usage);
  const directory = openStateDirectory(stateDir);
  const target = resolve(directory.databaseFile);
  // SQLite would apply an old journal to the new database and damage it.
  const existing = databaseFilePaths(target).filter(pathExists);
  if (existing.length > 0) {
    throw new CommandError(
      `${directory.path} already holds a state, which is never replaced. Stop Millrace, move ${existing.join(", ")} away, ` +
        "then restore again.",
      EXIT.state,
    );
  }
  const at = iso(systemClock.now());
  const { restore: done } = await makeCopy<Restored>(host, { kind: "restore", file: source, at }, target);
  if (options.json) {
    const { sessions, links, mcpSessions, jobs } = done.cleanup;
    const ended = { sessions, links, mcp_sessions: mcpSessions, jobs };
    const report = { file: target, from: source, verified: true, ...contentJson(done.contents), ended };
    io.out(`${JSON.stringify(report, null, 2)}\n`);
  } else {
    io.out(describeRestore(target, source, done));
  }
  io.err(
    "API keys, users and roles are as they were at the time of the backup: keys that were revoked and users that were " +
      "deactivated since then can be used again. Check millrace keys list and millrace users list.\n",
  );
}

function describeRestore(target: string, source: string, { contents, cleanup }: Restored["restore"]): string {
  const { createdAt, createdByRelease, migration, newest } = contents;
  const origin = createdAt === null ? "" : `, created ${createdAt} by Millrace ${createdByRelease}`;
  const upgrade = migration < newest ? `The next start migrates it from ${migration} to ${newest}.\n` : "";
  return (
    `${target}: restored from ${source}${origin}, verified. Contents:\n${contentLines(contents)}${upgrade}` +
    `Removed: ${cleanup.sessions} browser sessions, ${cleanup.links} single-use links, ${cleanup.mcpSessions} MCP sessions.\n` +
    `${contents.unfinishedRuns} unfinished runs will continue at the next start; ${cleanup.jobs} of their steps will run again from the beginning, ` +
    "with everything that they did after the backup. To inspect the state first, start with --workers 0.\n"
  );
}
