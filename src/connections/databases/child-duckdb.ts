/** Runs DuckDB in a child process: no other files, no extensions, locked settings, limited memory and threads. */
import {
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBPreparedStatement,
  DuckDBDataChunk,
} from "@duckdb/node-api";
import { ResultReturnType, StatementType } from "@duckdb/node-api";
import type { SqlColumn, TableDescription } from "../../core/connections.ts";
import {
  type BoundText,
  childFailure,
  type ChildFailure,
  type ChildSpec,
  type EmbeddedEngine,
  type PlacesText,
  type ScratchTable,
  duplicateColumnFailure,
} from "./child-protocol.ts";
import type { DescribeOptions, SqlValue } from "./driver.ts";
import {
  duckdbColumnType,
  hasUnresolvedType,
  toDuckdbType,
  toDuckdbValue,
  toSqlType,
} from "./duckdb-values.ts";
import { duckdbToJson, lostFields } from "./duckdb-json.ts";
import { readMomentPlaces, withoutProbes } from "./duckdb-moment-places.ts";
import { readWrittenMoments } from "./duckdb-moment-writes.ts";
import { bind, placesOfMoments, unfitDuckdbValues } from "./duckdb-parameters.ts";
import { createRowCollector, findDuplicateName, mustRollBack, type RowLimits } from "./rows.ts";

const READING: ReadonlySet<StatementType> = new Set([StatementType.SELECT, StatementType.EXPLAIN]);
const WRITING: ReadonlySet<StatementType> = new Set([
  ...READING,
  StatementType.INSERT,
  StatementType.UPDATE,
  StatementType.DELETE,
  StatementType.MERGE_INTO,
  StatementType.CREATE,
  StatementType.ALTER,
  StatementType.DROP,
]);

const unclearMoment = (does: string): Error =>
  childFailure({
    code: "input_invalid",
    message: `DuckDB does not say which type a parameter that is a moment with an offset has, and would ${does} a time without the offset.`,
    fix: "Say in the query which it is, where x is the parameter: CAST(:x AS TIMESTAMPTZ) or CAST(:x AS TEXT).",
  });

const lostOffset = (): Error =>
  childFailure({
    code: "input_invalid",
    message:
      "The query makes a text of a parameter that is a moment with an offset, and converts that text to a time: DuckDB would leave out the offset.",
    fix: "Convert the parameter to a moment first, where x is the parameter: CAST(:x AS TIMESTAMPTZ).",
  });

function withValues(
  statement: DuckDBPreparedStatement,
  values: readonly SqlValue[],
  times?: ReadonlySet<number>,
): DuckDBPreparedStatement {
  bind(statement, values, times);
  return statement;
}

const THREADS = 2;
/** Maximum number of rows that are counted; the size of a larger table is estimated. */
const COUNTED = 10_000_000;

export function createDuckdbEngine(spec: ChildSpec): EmbeddedEngine {
  /** @param work gets a connection, and one on which EXPLAIN prints the plan that is not optimized too */
  async function withConnection<T>(
    tables: readonly ScratchTable[],
    work: (connection: DuckDBConnection, plans: DuckDBConnection) => Promise<T>,
  ): Promise<T> {
    const instance = await DuckDBInstance.create(spec.file ?? ":memory:", {
      ...(spec.file !== null && { access_mode: spec.write ? "READ_WRITE" : "READ_ONLY" }),
      enable_external_access: "false",
      autoinstall_known_extensions: "false",
      autoload_known_extensions: "false",
      max_temp_directory_size: "0KB",
      memory_limit: `${spec.memoryMb}MiB`,
      threads: String(THREADS),
    });
    const connection = await instance.connect();
    const plans = await instance.connect();
    try {
      await plans.run("SET explain_output = 'all'");
      await connection.run("SET lock_configuration = true");
      for (const table of tables) await load(connection, table);
      return await work(connection, plans);
    } finally {
      plans.closeSync();
      connection.closeSync();
      instance.closeSync();
    }
  }

  async function prepared(connection: DuckDBConnection, text: string): Promise<DuckDBPreparedStatement> {
    const statements = await connection.extractStatements(text);
    if (statements.count !== 1)
      throw childFailure({ code: "database_failed", message: "The query must be one statement." });
    const statement = await statements.prepare(0);
    if (!(spec.write ? WRITING : READING).has(statement.statementType))
      throw childFailure({
        code: "database_read_only",
        message: `${StatementType[statement.statementType]} statements are not allowed.`,
      });
    return statement;
  }

  /**
   * Binds the values of a statement. A moment whose place has no type is a time in UTC where the query converts it to a time; then each
   * place gets its own parameter, unless the statement needs the same one again, as in GROUP BY.
   * @throws where the query may take a moment without its offset, or a text that it makes of one
   */
  async function bound(
    connection: DuckDBConnection,
    plans: DuckDBConnection,
    { perPlace, ...shared }: BoundText & { perPlace?: PlacesText },
  ): Promise<DuckDBPreparedStatement> {
    const statement = await prepared(connection, shared.text);
    const found = placesOfMoments(statement, shared);
    const isReading = READING.has(statement.statementType);
    const isRepeated = perPlace !== undefined && perPlace.values.length > shared.values.length;
    // At several places DuckDB gives a parameter the type of one of them.
    if (perPlace === undefined || !(found.areTexts || (isReading && isRepeated)))
      return withValues(statement, shared.values);
    const other = await prepared(connection, perPlace.text).catch(() => undefined);
    const otherFound = other && placesOfMoments(other, perPlace);
    if (!isReading) {
      const isOther = otherFound !== undefined && otherFound.times.size > 0;
      const taken = isOther ? otherFound : found;
      if (taken.areUnclear) throw unclearMoment("write it to");
      if (taken.areTexts) {
        const [places, probe] = otherFound ? [otherFound, perPlace.probe] : [found, perPlace.sharedProbe];
        const written = await readWrittenMoments(plans, withoutProbes(probe, places.times));
        if (written.areLost) throw lostOffset();
        if (written.areUnclear && places.areUncast) throw unclearMoment("write it to");
      }
      return isOther ? withValues(other!, perPlace.values) : withValues(statement, shared.values);
    }
    if (otherFound?.areTexts === false) return withValues(other!, perPlace.values);
    const places = other && (await readMomentPlaces(connection, perPlace.probe));
    const read = places ?? (await readMomentPlaces(connection, perPlace.sharedProbe));
    const { areUnclear, areUncast } = places === undefined ? found : otherFound!;
    if (read?.areLost === true) throw lostOffset();
    if (read === undefined ? areUnclear : read.areUnclear && areUncast) throw unclearMoment("take it for");
    return places === undefined
      ? withValues(statement, shared.values, read?.times)
      : withValues(other!, perPlace.values, places.times);
  }

  return {
    query: ({ limits, tables, ...texts }) =>
      withConnection(tables, async (connection, plans) => {
        const statement = await bound(connection, plans, texts);
        if (spec.write) await connection.run("BEGIN TRANSACTION");
        const result = await rowsOf(statement, limits);
        if (spec.write) await connection.run(mustRollBack(result, limits) ? "ROLLBACK" : "COMMIT");
        return result;
      }),
    prepare: ({ text, withNulls, values, tables }) =>
      withConnection(tables, async (connection) => {
        const statement = await prepared(connection, text);
        const columns = hasUnresolvedType(statement)
          ? await namesOnly(connection, statement, { text, values, withNulls })
          : columnsOf(statement);
        return { columns, unfit: await unfitDuckdbValues(connection, statement, text, values) };
      }),
    describe: (options) => withConnection([], (connection) => describe(connection, options)),
    toFailure,
  };
}

/** The columns of the result; none for a statement without rows. */
function columnsOf(
  statement: Pick<DuckDBPreparedStatement, "columnCount" | "columnName" | "columnType">,
): SqlColumn[] {
  const columns = Array.from({ length: statement.columnCount }, (_, index) => {
    const [name, type] = [statement.columnName(index), statement.columnType(index)];
    const [lost] = lostFields(type);
    if (lost !== undefined) throw lostFieldFailure(name, lost);
    return { name, ...duckdbColumnType(type) };
  });
  const repeated = findDuplicateName(columns.map(({ name }) => name));
  if (repeated !== undefined) throw duplicateColumnFailure(repeated);
  return columns;
}

const lostFieldFailure = (column: string, field: string): Error =>
  childFailure({
    code: "database_failed",
    message:
      field === ""
        ? `The column ${column} has a struct whose fields have no names.`
        : `The column ${column} has a struct with a field ${field} that a row can't hold.`,
    fix: "Name the fields of the struct, for example {'a': 1, 'b': 2} instead of row(1, 2).",
  });

/**
 * The columns where the type of one hangs on a parameter, which DuckDB does not tell before it has a value. DESCRIBE runs nothing, but
 * takes only a query. No other statement has a parameter in the name of a column, because RETURNING takes none.
 */
async function namesOnly(
  connection: DuckDBConnection,
  { statementType }: DuckDBPreparedStatement,
  { text, values, withNulls = text }: BoundText & { withNulls: string | undefined },
): Promise<SqlColumn[]> {
  const names =
    statementType === StatementType.SELECT
      ? await describedNames(connection, text, values.length)
      : columnsOf(await connection.prepare(withNulls)).map(({ name }) => name);
  return names.map((name) => ({ name, type: "any", databaseType: null }));
}

async function describedNames(
  connection: DuckDBConnection,
  text: string,
  parameters: number,
): Promise<string[]> {
  const statement = await connection.prepare(`DESCRIBE SELECT * FROM (${text}\n)`);
  bind(
    statement,
    Array.from({ length: parameters }, () => null),
  );
  const { rows } = await rowsOf(statement, { maxRows: Infinity, maxBytes: Infinity });
  return rows.map((row) => String(row["column_name"]));
}

async function rowsOf(statement: DuckDBPreparedStatement, limits: RowLimits) {
  const result = await statement.stream();
  if (result.returnType !== ResultReturnType.QUERY_RESULT)
    return { rows: [], columns: [], row_count: result.rowsChanged, truncated: false };
  const columns = columnsOf(result);
  const types = result.columnTypes();
  const collected = createRowCollector(
    columns.map(({ name }) => name),
    limits,
  );
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) break;
    for (let row = 0; row < chunk.rowCount; row += 1) {
      const values = chunk.getRowValues(row).map((value, index) => duckdbToJson(value, types[index]));
      if (!collected.add(values)) break;
    }
    if (collected.truncated) break;
  }
  const { rows, truncated } = collected;
  return { rows, columns, row_count: rows.length, truncated };
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

async function load(connection: DuckDBConnection, { name, columns, rows }: ScratchTable): Promise<void> {
  const list = columns.map((column) => `${quoted(column.name)} ${toSqlType(column)}`).join(", ");
  await connection.run(`CREATE TABLE ${quoted(name)} (${list})`);
  const types = columns.map(toDuckdbType);
  const appender = await connection.createAppender(name);
  for (let from = 0; from < rows.length; from += 2_048) {
    const part = rows.slice(from, from + 2_048);
    const chunk = DuckDBDataChunk.create(types, part.length);
    columns.forEach((column, index) =>
      chunk.setColumnValues(
        index,
        part.map((row) => toDuckdbValue(column, row[index] ?? null)),
      ),
    );
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}

async function describe(
  connection: DuckDBConnection,
  { table, samples, limit, includeRowCounts }: DescribeOptions,
): Promise<TableDescription[]> {
  const all = await connection.prepare(
    `SELECT * FROM (
       SELECT schema_name, table_name AS name, 'table' AS kind, estimated_size AS rows FROM duckdb_tables()
        WHERE database_name = current_database()
       UNION ALL
       SELECT schema_name, view_name, 'view', NULL FROM duckdb_views()
        WHERE database_name = current_database() AND NOT internal)
     WHERE $1 IS NULL OR $1 = CASE schema_name WHEN 'main' THEN name ELSE schema_name || '.' || name END
     ORDER BY ALL LIMIT $2`,
  );
  bind(all, [table ?? null, limit]);
  const { rows } = await rowsOf(all, { maxRows: limit, maxBytes: Infinity });
  const described: TableDescription[] = [];
  for (const row of rows as { schema_name: string; name: string; kind: string; rows: number | null }[]) {
    const columns = await connection.prepare(
      `SELECT column_name AS name, data_type AS type, is_nullable AS nullable FROM duckdb_columns()
       WHERE database_name = current_database() AND schema_name = $1 AND table_name = $2 ORDER BY column_index`,
    );
    bind(columns, [row.schema_name, row.name]);
    const answer = await rowsOf(columns, { maxRows: 10_000, maxBytes: Infinity });
    const from = `${quoted(row.schema_name)}.${quoted(row.name)}`;
    described.push({
      name: row.schema_name === "main" ? row.name : `${row.schema_name}.${row.name}`,
      kind: row.kind,
      columns: answer.rows as TableDescription["columns"],
      row_count: includeRowCounts && row.rows !== null ? await countOf(connection, from, row.rows) : null,
      ...(samples > 0 && {
        sample: (
          await rowsOf(await connection.prepare(`FROM ${from} LIMIT ${samples}`), {
            maxRows: samples,
            maxBytes: 64 * 1024,
          })
        ).rows,
      }),
    });
  }
  return described;
}

/** @param estimated the rows that it was written with, deleted ones included */
async function countOf(connection: DuckDBConnection, from: string, estimated: number): Promise<number> {
  if (estimated > COUNTED) return estimated;
  const result = await connection.runAndReadAll(`SELECT count(*) FROM ${from}`);
  return Number(result.getRows()[0]![0]);
}

/** DuckDB locks a file that a process may write for all others. */
const CLOSE_OTHER =
  "Close the other program that has the file open, or wait until it ends, and try again. If the error remains, ask the operator.";

function toFailure(error: unknown): ChildFailure {
  const message = (error as Error).message.replace(/^Failed to extract statements: /, "");
  if (message.startsWith("Out of Memory Error"))
    return { code: "memory_limit", message: message.split("\n")[0]!, fix: "Filter or aggregate earlier." };
  if (/^(?:IO Error|Connection Error)/.test(message)) {
    const isLocked = /\block on file\b/.test(message);
    return { code: "database_unavailable", message, ...(isLocked && { fix: CLOSE_OTHER }) };
  }
  if (message.startsWith("TransactionContext Error")) return { code: "deadlock", message };
  if (/read-only mode/.test(message)) return { code: "database_read_only", message };
  return { code: "database_failed", message };
}
