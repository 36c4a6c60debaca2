/** What a child that runs embedded databases is asked and answers. (Children load this file: it imports no values.) */
import type { SqlResult, TableDescription } from "../../core/connections.ts";
import type { StepErrorCode } from "../../core/step-errors.ts";
import type { DescribeOptions, PreparedStatement, SqlValue } from "./driver.ts";
import type { RowLimits } from "./rows.ts";

/** The database that a child process serves; it never opens another one. */
export interface ChildSpec {
  engine: "sqlite" | "duckdb";
  /** The real path of the file; null for a database in memory. */
  file: string | null;
  write: boolean;
  /** Memory limit of the engine, in MiB. */
  memoryMb: number;
  /** The parent process; the child ends when it ends. */
  parent: number;
}

/** A table of `scratch`: column names with types, and rows of values. */
export interface ScratchTable {
  name: string;
  columns: {
    name: string;
    type: "BIGINT" | "HUGEINT" | "DECIMAL" | "DOUBLE" | "BOOLEAN" | "VARCHAR" | "JSON";
    /** Of a DECIMAL: its digits after the point. */
    scale?: number;
  }[];
  rows: (SqlValue | undefined)[][];
}

/** A statement and the values of its parameters. */
export interface BoundText {
  text: string;
  values: SqlValue[];
}

/** A statement with a parameter for each place. */
export interface PlacesText extends BoundText {
  /** The statement with the literals of `probeLiteral` instead of parameters: a probe for each place. */
  probe: string;
  /** The same with a probe for each value of the statement. */
  sharedProbe: string;
}

export type ChildRequest =
  | ({
      op: "query";
      limits: RowLimits;
      tables: ScratchTable[];
      /** The same statement with a parameter for each place, if it may have to take a value as several types. */
      perPlace?: PlacesText;
    } & BoundText)
  | ({
      op: "prepare";
      tables: ScratchTable[];
      /** The same statement with NULL instead of its parameters, for DuckDB. */
      withNulls?: string;
    } & BoundText)
  | { op: "describe"; options: DescribeOptions };

export interface ChildFailure {
  code: StepErrorCode;
  message: string;
  fix?: string;
}

export type ChildReply = { value: unknown } | { failure: ChildFailure };

/** An embedded database in a child process, opened for each request, so that no lock outlives a request. */
export interface EmbeddedEngine {
  query(request: Extract<ChildRequest, { op: "query" }>): Promise<SqlResult>;
  prepare(request: Extract<ChildRequest, { op: "prepare" }>): Promise<PreparedStatement>;
  describe(options: DescribeOptions): Promise<TableDescription[]>;
  /** Converts an error of the database. */
  toFailure(error: unknown): ChildFailure;
}

/** Creates an error that the child itself detected. */
export const childFailure = (failure: ChildFailure): Error =>
  Object.assign(new Error(failure.message), { failure });

export const duplicateColumnFailure = (name: string): Error =>
  childFailure({
    code: "database_failed",
    message: `Two columns of the result have the name ${name}.`,
    fix: "Give each column its own name with AS.",
  });
