/** Configured databases that are closed at the end of the test, by default. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Config } from "../../schemas/config.ts";
import { createDatabases, type DatabasesOptions } from "../../src/connections/databases/index.ts";
import type { Databases, SqlResult, SqlRequest } from "../../src/core/connections.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { callOf } from "./call-context.ts";
import { childProgram } from "./child-program.ts";

export interface TestDatabases {
  databases: Databases & { close(): Promise<void> };
  /** Runs a query, by default with the limits of a step. */
  runQuery(
    database: string,
    query: string,
    params?: Record<string, unknown>,
    more?: Partial<SqlRequest>,
    signal?: AbortSignal,
  ): Promise<SqlResult>;
  /** Runs a query that must fail, and returns its error. */
  queryError(...args: Parameters<TestDatabases["runQuery"]>): Promise<StepError>;
}

export function openDatabases(
  entries: readonly object[],
  env: Record<string, string> = {},
  options: Partial<DatabasesOptions> = {},
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
): TestDatabases {
  const config = Config.parse({ databases: entries });
  const opened = createDatabases(config, fixedSecrets(env), {
    stateDir: "/nonexistent/state",
    childProgram: childProgram(),
    ...options,
  });
  atEnd(() => opened.close());
  const runQuery: TestDatabases["runQuery"] = (
    database,
    query,
    params = {},
    more = {},
    signal = neverAborted(),
  ) =>
    opened.query(
      {
        database,
        query,
        params,
        write: false,
        maxRows: 1_000,
        maxBytes: 1024 * 1024,
        keepTruncated: true,
        ...more,
      },
      callOf(signal),
    );
  return {
    databases: opened,
    runQuery,
    queryError: (...args) =>
      runQuery(...args).then(
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
const neverAborted = (): AbortSignal => new AbortController().signal;

/** A signal that is aborted after a time, as by the executor. */
export function abortAfter(milliseconds: number): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new StepError("timeout", `It took longer than ${milliseconds} ms.`)),
    milliseconds,
  );
  onTestFinished(() => clearTimeout(timer));
  return controller.signal;
}

/** Creates an SQLite file with these statements. */
export function createSqliteFile(directory: string, sql: string, name = "shop.db"): string {
  const path = join(directory, name);
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
  return path;
}
