/** Copies a database in a child process that can be killed at any time, to a temporary name first. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError, type ErrorCode } from "../core/errors.ts";
import type { DatabaseSummary, createRestoredDatabase } from "../store/backup.ts";
import { removeStalePartials, partialPathFor, finalizeCopy, removePartial } from "../store/database-copy.ts";
import { alignColumns } from "./columns.ts";
import { CommandError, type Io } from "./io.ts";
import { showProgress } from "./progress.ts";

/** How often the size of the copy is read, in milliseconds. */
const POLL_MS = 250;

/** The task of the child, without the file that it writes. */
type Task =
  | { kind: "backup"; databaseFile: string; mark: { at: string; release: string } }
  | { kind: "restore"; file: string; at: string };
export type CopyTask = Task & { partial: string };

export type CopyAnswer =
  | { backup: DatabaseSummary }
  | { restore: Awaited<ReturnType<typeof createRestoredDatabase>> }
  | { failed: { code?: ErrorCode; message: string } };

export interface CopyHost {
  /** Calls back once when the process must end. */
  onStop(stop: () => void): void;
}

/** Ends in `.ts` in a checkout and in `.js` in a release, like this file. */
const PROGRAM = fileURLToPath(new URL(`copy-child${/\.\w+$/.exec(import.meta.url)![0]}`, import.meta.url));

/**
 * Creates `target`, which must not exist: complete and verified, or not at all.
 * @throws AppError storage_unavailable, busy; CommandError if it was stopped, or if the target exists by now
 */
export async function makeCopy<T extends Exclude<CopyAnswer, { failed: unknown }>>(
  io: Io,
  host: CopyHost,
  task: Task,
  target: string,
): Promise<T> {
  const partial = partialPathFor(target);
  removeStalePartials(dirname(target), (name) => name === basename(target));
  let child: ChildProcess | undefined;
  let stopped = false;
  host.onStop(() => {
    stopped = true;
    child?.kill("SIGKILL");
  });
  child = fork(PROGRAM, [JSON.stringify({ ...task, partial } satisfies CopyTask)], { env: {} });
  let answer: CopyAnswer | undefined;
  child.once("message", (message) => (answer = message as CopyAnswer));
  const stopShowing = showCopied(io, task, partial);
  const [code, signal] = (await once(child, "exit").finally(stopShowing)) as [number | null, string | null];
  try {
    if (stopped) throw new CommandError("The copy was stopped. No file was created.");
    if (answer === undefined) {
      throw new CommandError(
        `The copy process ended with ${signal ?? code} before it was done. No file was created.`,
      );
    }
    if ("failed" in answer) {
      const { code: errorCode, message } = answer.failed;
      throw errorCode === undefined ? new Error(message) : new AppError(errorCode, message);
    }
    finalizeCopy(partial, target);
    return answer as T;
  } catch (error) {
    removePartial(partial);
    throw explainRenameError(error, target);
  }
}

/** The size of a file in bytes; 0 if there is none. */
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Shows how much of the copy is written. The child itself can't tell: SQLite blocks it until the copy is done.
 * @returns what ends it
 */
function showCopied(io: Io, task: Task, partial: string): () => void {
  const source = task.kind === "backup" ? task.databaseFile : task.file;
  const total = sizeOf(source);
  const progress = showProgress(io, task.kind === "backup" ? "Backing up" : "Restoring", total);
  const timer = setInterval(() => {
    const done = sizeOf(partial);
    // The whole file is read again to verify it.
    progress.update(done, done < total ? undefined : "verifying");
  }, POLL_MS);
  return () => {
    clearInterval(timer);
    progress.end();
  };
}

/** Explains an error that happened while the copy was renamed; returns any other error unchanged. */
function explainRenameError(error: unknown, target: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case "EEXIST":
      return new CommandError(
        `${target} was created by another process meanwhile. It was not changed. Choose another name.`,
      );
    case "ENOENT":
      return new CommandError(
        `The unfinished copy next to ${target} was removed, perhaps by another backup to the same file. Try again.`,
      );
    default:
      return error;
  }
}

/** The contents of a database, as lines for people. */
export function contentLines({ rows, unfinishedRuns, migration }: DatabaseSummary): string {
  const cells: [string, string][] = [
    ["workflows", `${rows.workflows}, in ${rows.workflow_versions} versions`],
    ["runs", `${rows.runs}, ${unfinishedRuns} of them unfinished`],
    ["approvals", `${rows.approvals}`],
    ["schedules", `${rows.schedules}`],
    ["users", `${rows.users}`],
    ["API keys", `${rows.api_keys}`],
    ["audit entries", `${rows.audit_log}`],
    ["migration", `${migration}`],
  ];
  const line = alignColumns(cells);
  return cells.map((row) => `  ${line(row)}\n`).join("");
}

/** The contents of a database, as JSON. */
export const contentJson = ({
  rows,
  unfinishedRuns,
  createdAt,
  createdByRelease,
  migration,
}: DatabaseSummary) => ({
  made_at: createdAt,
  made_by: createdByRelease,
  migration,
  rows: { ...rows, unfinished_runs: unfinishedRuns },
});
