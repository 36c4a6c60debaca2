/**
 * The program of a child process that copies a database. SQLite blocks its thread until the copy is done; the command
 * that started the child still receives signals, and kills it.
 */
/* oxlint-disable no-restricted-globals -- this is the main file of a process of its own */
import { AppError } from "../core/errors.ts";
import { translateSqliteError } from "../store/sqlite-errors.ts";
import type { CopyAnswer, CopyTask } from "./database-copy.ts";
import { createBackup, createRestoredDatabase } from "../store/backup.ts";

const task = JSON.parse(process.argv[2]!) as CopyTask;

// The command is gone, so nobody would rename the finished copy.
process.on("disconnect", () => process.exit(1));

async function copy(): Promise<CopyAnswer> {
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

process.send!(await copy(), () => process.disconnect());
