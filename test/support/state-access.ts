/** Reads and prepares the state of a test beside the processes that use it, on either database. */
import Database from "better-sqlite3";
import { Pool, types } from "pg";
import { onTestFinished } from "vitest";

export interface StateAccess {
  dialect: "sqlite" | "postgres";
  rows<T>(sql: string): Promise<T[]>;
  execute(script: string): Promise<void>;
}

/** It is closed at the end of the test. @param file of the database */
export function sqliteAccess(file: string): StateAccess {
  const db = new Database(file, { timeout: 10_000 });
  onTestFinished(() => void db.close());
  return {
    dialect: "sqlite",
    rows: async <T>(sql: string) => db.prepare(sql).all() as T[],
    execute: async (script) => void db.exec(script),
  };
}

/** It connects again after it has lost the server, and is closed at the end of the test. */
export function postgresAccess(url: string, password: string): StateAccess {
  const connectionString = Object.assign(new URL(url), { password }).href;
  const pool = new Pool({
    connectionString,
    max: 2,
    types: {
      getTypeParser: (oid, format) =>
        oid === types.builtins.INT8
          ? Number
          : (types.getTypeParser(oid, format) as (text: string) => unknown),
    },
  });
  // A connection that nobody uses ends with the server.
  pool.on("error", () => undefined);
  onTestFinished(() => pool.end());
  return {
    dialect: "postgres",
    rows: async <T>(sql: string) => (await pool.query(sql)).rows as T[],
    execute: async (script) => void (await pool.query(script)),
  };
}
