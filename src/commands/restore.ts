/** `millrace restore`: a state out of a backup, where there is none. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { readEnvironment } from "../config/environment.ts";
import { iso, systemClock } from "../core/clock.ts";
import { databaseFilePaths, pathExists } from "../store/database-copy.ts";
import { openStateDirectory } from "../store/state-directory.ts";
import { contentJson, contentLines, type CopyAnswer, type CopyHost, makeCopy } from "./database-copy.ts";
import { CommandError, EXIT, type Io } from "./io.ts";

type Restored = Extract<CopyAnswer, { restore: unknown }>;

/** Makes the database of the state directory out of a backup, and says what has ended with that. */
export async function restore(
  io: Io,
  host: CopyHost,
  file: string,
  options: { json?: boolean },
): Promise<void> {
  const source = resolve(file);
  if (!statSync(source, { throwIfNoEntry: false })?.isFile())
    throw new CommandError(`${source} is not a file. Name the backup to restore.`, EXIT.usage);
  const directory = openStateDirectory(readEnvironment(io.env).stateDir);
  const target = resolve(directory.databaseFile);
  // Of an old journal beside a new database SQLite would make one that is neither.
  const there = databaseFilePaths(target).filter(pathExists);
  if (there.length > 0) {
    throw new CommandError(
      `There is a state in ${directory.path} already, and nothing is replaced. Stop Millrace, move ${there.join(", ")} away, ` +
        "then restore again.",
      EXIT.state,
    );
  }
  const at = iso(systemClock.now());
  const { restore: done } = await makeCopy<Restored>(host, { kind: "restore", file: source, at }, target);
  if (options.json) {
    const { sessions, links, mcpSessions, jobs } = done.cleanup;
    const ended = { sessions, links, mcp_sessions: mcpSessions, jobs };
    const told = { file: target, from: source, verified: true, ...contentJson(done.contents), ended };
    io.out(`${JSON.stringify(told, null, 2)}\n`);
  } else {
    io.out(tell(target, source, done));
  }
  io.err(
    "API keys, people and roles are as they were then: whoever was locked out since is not any more. See millrace keys list " +
      "and millrace users list.\n",
  );
}

function tell(target: string, source: string, { contents, cleanup }: Restored["restore"]): string {
  const { createdAt, createdByRelease, migration, newest } = contents;
  const made = createdAt === null ? "" : `, made ${createdAt} by Millrace ${createdByRelease}`;
  const later =
    migration < newest ? `The next start brings it from migration ${migration} to ${newest}.\n` : "";
  return (
    `${target}: restored from ${source}${made}, verified. It holds\n${contentLines(contents)}${later}` +
    `Ended: ${cleanup.sessions} logins in browsers, ${cleanup.links} links that work once, ${cleanup.mcpSessions} MCP sessions.\n` +
    `${contents.unfinishedRuns} unfinished runs go on with the next start, ${cleanup.jobs} of their steps from the beginning of the step; ` +
    "what was done after the backup is done again. Start with --workers 0 to look around before.\n"
  );
}
