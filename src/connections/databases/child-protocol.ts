/** What a child that runs embedded databases is asked and answers. (Children load this file: it imports no values.) */
import type { SqlResult, SqlColumn, TableDescription } from "../../core/connections.ts";
import type { StepErrorCode } from "../../core/step-errors.ts";
import type { DescribeOptions, SqlValue } from "./driver.ts";
import type { RowLimits } from "./rows.ts";

/** What a child is started for: it never opens anything else. */
export interface ChildSpec {
  engine: "sqlite" | "duckdb";
  /** The real path of the file; null for a database in memory. */
  file: string | null;
  write: boolean;
  /** What the engine may use of memory, in MiB. */
  memoryMb: number;
  /** The process that it serves, and ends with. */
  parent: number;
}

/** A table of `scratch`: column names with types, and rows of values. */
export interface ScratchTable {
  name: string;
  columns: { name: string; type: "BIGINT" | "DOUBLE" | "BOOLEAN" | "VARCHAR" | "JSON" }[];
  rows: (SqlValue | undefined)[][];
}

export type ChildRequest =
  | { op: "query"; text: string; values: SqlValue[]; limits: RowLimits; tables: ScratchTable[] }
  | { op: "prepare"; text: string; parameters: number; tables: ScratchTable[] }
  | { op: "describe"; options: DescribeOptions };

export interface ChildFailure {
  code: StepErrorCode;
  message: string;
  fix?: string;
}

export type ChildReply = { value: unknown } | { failure: ChildFailure };

/** An embedded database as a child sees it; opened for each request, so that no lock outlives one. */
export interface EmbeddedEngine {
  query(request: Extract<ChildRequest, { op: "query" }>): Promise<SqlResult>;
  prepare(request: Extract<ChildRequest, { op: "prepare" }>): Promise<SqlColumn[]>;
  describe(options: DescribeOptions): Promise<TableDescription[]>;
  /** What a failure of the database means. */
  toFailure(error: unknown): ChildFailure;
}

/** A failure of our own finding. */
export const childFailure = (failure: ChildFailure): Error =>
  Object.assign(new Error(failure.message), { failure });

export const duplicateColumnFailure = (name: string): Error =>
  childFailure({
    code: "database_failed",
    message: `Two columns of the result are called ${name}.`,
    fix: "Give each its own name with AS.",
  });
