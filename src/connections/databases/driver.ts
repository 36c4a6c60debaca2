/** What each kind of database can do for us; the rules that hold for all of them stand in index.ts. */
import type { SqlResult, SqlColumn, TableDescription } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import { findDuplicateName, type RowLimits } from "./rows.ts";
import type { Dialect, RenderedQuery } from "./sql-scanner.ts";

/** As it is bound: lists are refused before, objects are JSON text. */
export type SqlValue = string | number | boolean | null;

export interface Statement extends RenderedQuery {
  /** In the order of the placeholders; nulls where it is only prepared. */
  values: SqlValue[];
  write: boolean;
}

export interface DescribeOptions {
  table?: string | undefined;
  samples: number;
  limit: number;
  /** Whether row counts are wanted. */
  includeRowCounts: boolean;
}

/** What fails throws a StepError. */
export interface Driver {
  dialect: Dialect;
  /** How the parameter with this index (from 0) is written for it. */
  placeholder(index: number): string;
  query(statement: Statement, limits: RowLimits, signal: AbortSignal): Promise<SqlResult>;
  prepare(statement: Statement, signal: AbortSignal): Promise<SqlColumn[]>;
  describe(options: DescribeOptions, signal: AbortSignal): Promise<TableDescription[]>;
  close(): Promise<void>;
}

export interface DatabaseServerOptions {
  url: string;
  password: string | undefined;
  maxConnections: number;
  idleTimeoutMs: number;
  connectTimeoutMs: number;
}

/** What a signal was aborted for, as the error that ends the step. */
export function abortError(signal: AbortSignal): StepError {
  const reason: unknown = signal.reason;
  if (reason instanceof StepError) return reason;
  return (reason as { name?: unknown } | undefined)?.name === "TimeoutError"
    ? new StepError("timeout", "The query took too long.")
    : new StepError("cancelled", "The query was cancelled.");
}

/** @throws StepError for columns of the same name: a row is an object, one of them would be lost */
export function assertUniqueColumnNames(names: readonly string[]): void {
  const name = findDuplicateName(names);
  if (name !== undefined) throw repeatedColumn(name);
}

const repeatedColumn = (name: string): StepError =>
  new StepError("database_failed", `Two columns of the result are called ${name}.`, {
    fix: "Give each its own name with AS.",
  });

/** What `work` gives, or the reason of the abort as soon as it comes; `onAbort` sees to what is left of the work. */
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
