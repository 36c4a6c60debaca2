/** Describes the tables of MySQL and MariaDB, with sample rows. */
import type { Connection } from "mysql2";
import type { TableDescription } from "../../core/connections.ts";
import type { DescribeOptions } from "./driver.ts";
import { describeStatement, streamRows } from "./mysql-statements.ts";
import { isJson, MAX_SAMPLE_LENGTH, truncateMysqlColumn } from "./mysql-values.ts";
import type { RowLimits } from "./rows.ts";
import { parseJsonText } from "./values.ts";

export async function describeMysqlTables(
  connection: Connection,
  { table, samples, limit, includeRowCounts }: DescribeOptions,
): Promise<TableDescription[]> {
  const rowsOf = async (text: string, values: unknown[], limits: RowLimits) =>
    (await streamRows(connection, text, values, limits, true)).answer.rows;
  const all = { maxRows: 20_000, maxBytes: Infinity };
  const tables = await rowsOf(
    `SELECT table_name AS name, IF(table_type LIKE '%VIEW', 'view', 'table') AS kind, table_rows AS count
       FROM information_schema.tables WHERE table_schema = DATABASE() AND (? IS NULL OR table_name = ?)
      ORDER BY table_name LIMIT ${limit}`,
    [table ?? null, table ?? null],
    all,
  );
  const columns = await rowsOf(
    `SELECT table_name AS owner, column_name AS name, column_type AS type, is_nullable = 'YES' AS nullable
       FROM information_schema.columns WHERE table_schema = DATABASE() AND (? IS NULL OR table_name = ?)
      ORDER BY table_name, ordinal_position`,
    [table ?? null, table ?? null],
    all,
  );
  const described: TableDescription[] = [];
  for (const row of tables as { name: string; kind: string; count: number | null }[]) {
    described.push({
      name: row.name,
      kind: row.kind,
      columns: columns
        .filter(({ owner }) => owner === row.name)
        .map(({ name, type, nullable }) => ({
          name: String(name),
          type: String(type),
          nullable: nullable === 1,
        })),
      row_count: includeRowCounts ? row.count : null,
      ...(samples > 0 && { sample: await sampleOf(connection, row.name, samples) }),
    });
  }
  return described;
}

/** Reads the first rows. The server truncates long values, because one value may be larger than our memory. */
async function sampleOf(
  connection: Connection,
  table: string,
  maxRows: number,
): Promise<Record<string, unknown>[]> {
  const from = quoted(table);
  const fields = await describeStatement(connection, `SELECT * FROM ${from}`);
  const cut = fields.map(
    (field) => `${truncateMysqlColumn(field, quoted(field.name))} AS ${quoted(field.name)}`,
  );
  const text = `SELECT ${cut.join(", ")} FROM ${from} LIMIT ${maxRows}`;
  const { answer } = await streamRows(connection, text, [], { maxRows, maxBytes: 64 * 1024 }, true);
  const json = new Set(fields.filter(isJson).map(({ name }) => name));
  // The beginning of a long JSON number is another number.
  const plain = (name: string, value: unknown): unknown =>
    json.has(name) && typeof value === "string" && value.length < MAX_SAMPLE_LENGTH
      ? parseJsonText(value)
      : value;
  return answer.rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(name, value)])),
  );
}

const quoted = (name: string): string => `\`${name.replaceAll("`", "``")}\``;
