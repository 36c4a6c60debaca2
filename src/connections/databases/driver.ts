/** The interface of database drivers. index.ts has the rules for all of them. */
import type { CallContext, SqlResult, SqlColumn, TableDescription } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import { findDuplicateName, type RowLimits } from "./rows.ts";
import type { Dialect, RenderedQuery, ScannedQuery } from "./sql-scanner.ts";

/** A bound value. Lists are refused earlier, and objects are JSON text. */
export type SqlValue = string | number | boolean | null;

export interface Statement extends RenderedQuery, Pick<ScannedQuery, "render"> {
  /** Values in the order of the placeholders; null for those that are not known while the query is only prepared. */
  values: SqlValue[];
  write: boolean;
}

export interface PreparedStatement {
  columns: SqlColumn[];
  /** Known values that do not fit their parameters, by their positions in `values`. */
  unfit?: { position: number; message: string }[];
}

export interface DescribeOptions {
  table?: string | undefined;
  samples: number;
  limit: number;
  /** Whether row counts are requested. */
  includeRowCounts: boolean;
}

/** All methods throw StepError. */
export interface Driver {
  dialect: Dialect;
  /** Returns the placeholder of the parameter with this index (from 0). */
  placeholder(index: number): string;
  query(statement: Statement, limits: RowLimits, call: CallContext): Promise<SqlResult>;
  /** The values of the statement are those that are known, else null. */
  prepare(statement: Statement, call: CallContext): Promise<PreparedStatement>;
  describe(options: DescribeOptions, call: CallContext): Promise<TableDescription[]>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Whether the server refused the password. */
  isRefusal(error: unknown): boolean;
  signal: AbortSignal;
}

export interface DatabaseServerOptions {
  url: string;
  /** The login, instead of the one in the URL. */
  user: string | undefined;
  /** The current password, which can change; undefined for none. */
  password(): string | undefined;
  /** Does work that connects; once more if the password was refused and has been replaced. */
  connecting<T>(options: ConnectOptions, work: () => Promise<T>): Promise<T>;
  maxConnections: number;
  idleTimeoutMs: number;
  connectTimeoutMs: number;
}

/** The error of the step for the reason of an abort. */
export function abortError(signal: AbortSignal): StepError {
  const reason: unknown = signal.reason;
  if (reason instanceof StepError) return reason;
  return (reason as { name?: unknown } | undefined)?.name === "TimeoutError"
    ? new StepError("timeout", "The query took too long.")
    : new StepError("cancelled", "The query was cancelled.");
}

/** @throws StepError for columns with the same name, because a row is an object */
export function assertUniqueColumnNames(names: readonly string[]): void {
  const name = findDuplicateName(names);
  if (name !== undefined) throw repeatedColumn(name);
}

const repeatedColumn = (name: string): StepError =>
  new StepError("database_failed", `Two columns of the result have the name ${name}.`, {
    fix: "Give each column its own name with AS.",
  });

/** Returns the result of `work`, or rejects as soon as the signal is aborted; `onAbort` then stops the work. */
export function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal, onAbort: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      onAbort();
      reject(abortError(signal));
    };
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
    if (signal.aborted) abort();
  });
}
