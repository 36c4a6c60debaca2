/** A copy of a database, made by a child that can be killed at any moment, under a name that is not the final one. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError, type ErrorCode } from "../core/errors.ts";
import type { DatabaseSummary, createRestoredDatabase } from "../store/backup.ts";
import { removeStalePartials, partialPathFor, finalizeCopy, removePartial } from "../store/database-copy.ts";
import { alignColumns } from "./columns.ts";
import { CommandError } from "./io.ts";

/** What the child is to do, but for the file that it makes. */
type Task =
  | { kind: "backup"; databaseFile: string; mark: { at: string; release: string } }
  | { kind: "restore"; file: string; at: string };
export type CopyTask = Task & { partial: string };

export type CopyAnswer =
  | { backup: DatabaseSummary }
  | { restore: Awaited<ReturnType<typeof createRestoredDatabase>> }
  | { failed: { code?: ErrorCode; message: string } };

export interface CopyHost {
  /** Called once: the process was asked to end. */
  onStop(stop: () => void): void;
}

/** `.ts` in a checkout, `.js` in a release: this file says which. */
const PROGRAM = fileURLToPath(new URL(`copy-child${/\.\w+$/.exec(import.meta.url)![0]}`, import.meta.url));

/**
 * Makes `target`, which must not be there: whole and verified, or not at all.
 * @throws AppError storage_unavailable, busy; CommandError when it was asked to end, or the target is there by now
 */
export async function makeCopy<T extends Exclude<CopyAnswer, { failed: unknown }>>(
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
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  try {
    if (stopped) throw new CommandError("It was stopped; nothing was made.");
    if (answer === undefined) {
      throw new CommandError(`The copy ended with ${signal ?? code} before it was done; nothing was made.`);
    }
    if ("failed" in answer) {
      const { code: known, message } = answer.failed;
      throw known === undefined ? new Error(message) : new AppError(known, message);
    }
    finalizeCopy(partial, target);
    return answer as T;
  } catch (error) {
    removePartial(partial);
    throw explained(error, target);
  }
}

/** What went wrong while the copy got its name. */
function explained(error: unknown, target: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case "EEXIST":
      return new CommandError(`${target} is there by now: somebody else has made it. Nothing was changed.`);
    case "ENOENT":
      return new CommandError(
        `The unfinished copy beside ${target} was removed meanwhile. Is another one made there too? Try again.`,
      );
    default:
      return error;
  }
}

/** What a database holds, in lines for people. */
export function contentLines({ rows, unfinishedRuns, migration }: DatabaseSummary): string {
  const cells: [string, string][] = [
    ["workflows", `${rows.workflows}, in ${rows.workflow_versions} versions`],
    ["runs", `${rows.runs}, ${unfinishedRuns} of them unfinished`],
    ["approvals", `${rows.approvals}`],
    ["schedules", `${rows.schedules}`],
    ["people", `${rows.users}`],
    ["API keys", `${rows.api_keys}`],
    ["audit entries", `${rows.audit_log}`],
    ["migration", `${migration}`],
  ];
  const line = alignColumns(cells);
  return cells.map((row) => `  ${line(row)}\n`).join("");
}

/** The same for programs. */
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
