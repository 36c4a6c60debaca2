/**
 * The program of a child that makes one copy of a database. SQLite holds its thread until that is done; the command that
 * started it goes on hearing of signals, and ends it.
 */
/* oxlint-disable no-restricted-globals -- this is the main file of a process of its own */
import { AppError } from "../core/errors.ts";
import { translateSqliteError } from "../store/sqlite-errors.ts";
import type { CopyAnswer, CopyTask } from "./database-copy.ts";
import { createBackup, createRestoredDatabase } from "../store/backup.ts";

const task = JSON.parse(process.argv[2]!) as CopyTask;

// The command is gone: what it would have given a name stays without.
process.on("disconnect", () => process.exit(1));

async function answer(): Promise<CopyAnswer> {
  try {
    return task.kind === "backup"
      ? { backup: await createBackup(task, task.mark) }
      : { restore: await createRestoredDatabase(task, task.at) };
  } catch (thrown) {
    const error = translateSqliteError(thrown);
    const { message } = error as Error;
    return { failed: error instanceof AppError ? { code: error.code, message } : { message } };
  }
}

process.send!(await answer(), () => process.disconnect());
