/** Databases as a configuration names them, closed when the test has finished. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Config } from "../../schemas/config.ts";
import { databases, type DatabasesOptions } from "../../src/connections/databases/index.ts";
import type { Databases, SqlAnswer, SqlRequest } from "../../src/core/connections.ts";
import { StepError } from "../../src/core/step-errors.ts";

export interface Opened {
  databases: Databases & { close(): Promise<void> };
  /** Runs a query with the caps of a step, unless told otherwise. */
  ask(
    database: string,
    query: string,
    params?: Record<string, unknown>,
    more?: Partial<SqlRequest>,
    signal?: AbortSignal,
  ): Promise<SqlAnswer>;
  /** The same, for a query that must fail. */
  refused(...args: Parameters<Opened["ask"]>): Promise<StepError>;
}

export function openDatabases(
  entries: readonly object[],
  env: Record<string, string> = {},
  options: Partial<DatabasesOptions> = {},
): Opened {
  const config = Config.parse({ databases: entries });
  const opened = databases(config, env, { stateDir: "/nonexistent/state", ...options });
  onTestFinished(() => opened.close());
  const ask: Opened["ask"] = (database, query, params = {}, more = {}, signal = never()) =>
    opened.query(
      { database, query, params, write: false, maxRows: 1_000, maxBytes: 1024 * 1024, ...more },
      signal,
    );
  return {
    databases: opened,
    ask,
    refused: (...args) =>
      ask(...args).then(
        (answer) => {
          throw new Error(`was not refused, but gave ${JSON.stringify(answer).slice(0, 500)}`);
        },
        (error: unknown) => {
          if (error instanceof StepError) return error;
          throw error;
        },
      ),
  };
}

/** A signal that is never aborted. */
export const never = (): AbortSignal => new AbortController().signal;

/** Aborted after so long, as the executor does it. */
export function within(milliseconds: number): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new StepError("timeout", `It took longer than ${milliseconds} ms.`)),
    milliseconds,
  );
  onTestFinished(() => clearTimeout(timer));
  return controller.signal;
}

/** An SQLite file made by these statements. */
export function sqliteFile(directory: string, sql: string, name = "shop.db"): string {
  const path = join(directory, name);
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
  return path;
}
