/** What is read from DuckDB is what is written back. */
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, it } from "vitest";
import { openDatabases } from "../../support/databases.ts";
import { temporaryDirectory } from "../../support/instance.ts";

/** The columns of `test_all_types` that a parameter can hold: DuckDB's own extremes of each type. Bytes are base64. */
const COLUMNS =
  "bool tinyint smallint int bigint hugeint uhugeint utinyint usmallint uint ubigint bignum date time timestamp timestamp_s timestamp_ms timestamp_ns time_tz timestamp_tz float double dec_4_1 dec_9_4 dec_18_6 dec38_10 uuid interval varchar bit small_enum".split(
    " ",
  );
/** Values between the extremes, with all the digits of their types. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  bigint: ["9007199254740993", "-9007199254740993"],
  hugeint: ["123456789012345678901234567890"],
  dec38_10: ["1234567890123456789012345678.0123456789", "-0.0000000001", "9007199254740993"],
  float: ["0.1", "-1.17549435e-38", "16777217"],
  double: ["0.1", "5e-324", "1e20", "9007199254740992"],
  varchar: ["9007199254740993", "007", "12345678901234567.89", "1e400"],
  timestamp: ["1969-12-31 23:59:59.999999"],
  timestamp_ns: ["1969-12-31 23:59:59.999999999"],
  timestamp_tz: ["1969-12-31 23:59:59.999999+00", "infinity", "-infinity"],
  date: ["infinity", "-infinity"],
};

describe("a DuckDB database", () => {
  it("has the same value again after it was read and written back as a parameter", async () => {
    const dataset = join(temporaryDirectory(), "types.duckdb");
    const instance = await DuckDBInstance.create(dataset);
    const connection = await instance.connect();
    const names = COLUMNS.map((name) => `"${name}"`).join(", ");
    await connection.run(`CREATE TABLE read AS SELECT ${names} FROM test_all_types()`);
    await connection.run("CREATE TABLE written AS FROM read LIMIT 0");
    for (const [name, values] of Object.entries(MORE))
      for (const value of values) await connection.run(`INSERT INTO read ("${name}") VALUES ('${value}')`);
    connection.closeSync();
    instance.closeSync();
    const { runQuery } = openDatabases([{ name: "types", type: "duckdb", dataset, access: "read-write" }]);
    const { rows } = await runQuery("types", `SELECT ${names} FROM read ORDER BY rowid`);
    const params: Record<string, unknown> = {};
    const values = rows.map((row, index) =>
      COLUMNS.map((name) => {
        params[`${name}_${index}`] = row[name];
        return `:${name}_${index}`;
      }).join(", "),
    );
    await runQuery("types", `INSERT INTO written VALUES (${values.join("), (")})`, params, { write: true });
    const asText = COLUMNS.map((name) => `"${name}"::VARCHAR AS "${name}"`).join(", ");
    const [own, again] = await Promise.all(
      ["read", "written"].map((table) => runQuery("types", `SELECT ${asText} FROM ${table} ORDER BY rowid`)),
    );
    expect(own!.rows).toHaveLength(27);
    expect(again!.rows).toEqual(own!.rows);
  });
});
