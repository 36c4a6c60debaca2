/** Completes SQL in a definition: columns, tables, parameters and the keywords of the database. */
import {
  MariaSQL,
  MySQL,
  PostgreSQL,
  type SQLDialect,
  SQLite,
  StandardSQL,
  keywordCompletionSource,
} from "@codemirror/lang-sql";
import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";
import * as texts from "#texts/editor";
import type { Table } from "../data/queries.ts";
import { sqlIdentifier, sqlName } from "../data/sql-names.ts";
import type { SqlContext } from "./sql-context.ts";
import { positionIn, tablesOf, type UsedTable } from "./sql-statement.ts";
import type { Suggestion, Suggestions } from "./suggestions.ts";

/** The tables of the database of a query, as far as they are known. */
export interface SqlSchema {
  /** The type of the database; undefined if it is unknown. */
  type: string | undefined;
  tables: readonly Table[];
}

/** DuckDB follows the syntax of PostgreSQL. */
const DIALECTS: Readonly<Record<string, SQLDialect>> = {
  sqlite: SQLite,
  duckdb: PostgreSQL,
  postgresql: PostgreSQL,
  mysql: MySQL,
  mariadb: MariaSQL,
};

/** @param type the type of a database, as the configuration names it */
export const dialectOf = (type: string | undefined): SQLDialect => DIALECTS[type ?? ""] ?? StandardSQL;

/** Maximum number of suggestions of one list. */
const MAX_SUGGESTIONS = 500;

/**
 * @param pos the cursor, in the whole text
 * @param explicit completion was requested by a key; otherwise nothing is offered before a letter is typed
 */
export async function suggestSql(
  context: SqlContext,
  pos: number,
  schema: SqlSchema,
  explicit: boolean,
): Promise<Suggestions | undefined> {
  const dialect = dialectOf(schema.type);
  const at = pos - context.from;
  const place = positionIn(context.sql, at, dialect);
  if (place.kind === "none") return undefined;
  const from = pos - place.typed.length;
  const to = pos + /^\w*/.exec(context.sql.slice(at))![0].length;
  const found = (list: Suggestion[]): Suggestions => ({
    from,
    replace: { from, to },
    list: list.slice(0, MAX_SUGGESTIONS),
  });
  if (place.kind === "parameter")
    return found(context.params.map((label) => ({ label, kind: "variable", detail: texts.sqlParameter })));
  const used = tablesOf(context.sql, dialect);
  if (place.kind === "member") return found(members(place.qualifier, used, schema));
  if (place.typed === "" && !explicit && !place.expectsTable) return undefined;
  const tables = schema.tables.map((table) => tableSuggestion(table, schema, place.expectsTable ? 2 : 0));
  if (place.expectsTable) return found(tables);
  return found([
    ...columnsOfAll(used, schema),
    ...used
      .filter(({ name, alias }) => alias !== name)
      .map(({ name, alias }): Suggestion => ({ label: alias, kind: "variable", detail: name, boost: 1 })),
    ...tables,
    ...(place.typed === "" ? [] : await keywords(context.sql, at, dialect)),
  ]);
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** What can follow `qualifier.`: the columns of a table, or the tables of a schema. */
function members(qualifier: string, used: readonly UsedTable[], schema: SqlSchema): Suggestion[] {
  const named =
    used.find(({ alias, name }) => same(alias, qualifier) || same(name, qualifier))?.name ?? qualifier;
  const table = findTable(named, schema);
  if (table !== undefined) return columnsOf(table, schema, 1);
  const prefix = `${qualifier.toLowerCase()}.`;
  return schema.tables
    .filter(({ name }) => name.toLowerCase().startsWith(prefix))
    .map((inSchema) => {
      const label = inSchema.name.slice(prefix.length);
      return Object.assign(tableSuggestion(inSchema, schema, 1), {
        label,
        apply: sqlIdentifier(label, schema.type ?? ""),
      });
    });
}

const findTable = (name: string, { tables }: SqlSchema): Table | undefined =>
  tables.find((table) => same(table.name, name));

/** The columns of all tables of the statement, each once. */
function columnsOfAll(used: readonly UsedTable[], schema: SqlSchema): Suggestion[] {
  const tables = used.flatMap(({ name }) => findTable(name, schema) ?? []);
  const found = new Map<string, Suggestion>();
  for (const table of tables)
    for (const column of columnsOf(table, schema, 3))
      if (!found.has(column.label))
        found.set(column.label, {
          ...column,
          detail: tables.length > 1 ? `${column.detail}, ${table.name}` : column.detail,
        });
  return [...found.values()];
}

const columnsOf = ({ columns }: Table, { type = "" }: SqlSchema, boost: number): Suggestion[] =>
  columns.map((column) => ({
    label: column.name,
    apply: sqlIdentifier(column.name, type),
    kind: "property",
    detail: column.nullable ? texts.nullableColumn({ type: column.type }) : column.type,
    boost,
  }));

const tableSuggestion = (table: Table, { type = "" }: SqlSchema, boost: number): Suggestion => ({
  label: table.name,
  apply: sqlName(table.name, type),
  kind: "enum",
  detail: tableDetail(table),
  info: table.columns.map(({ name }) => name).join(", "),
  boost,
});

function tableDetail({ kind: code, row_count: rows }: Table): string {
  const kind = texts.tableKind({ kind: code });
  return rows === null ? kind : texts.tableWithRows({ kind, rows });
}

/** Keywords, written as the statement writes its own. */
async function keywords(sql: string, at: number, dialect: SQLDialect): Promise<Suggestion[]> {
  const state = EditorState.create({ doc: sql, extensions: dialect.language.extension });
  const isUpperCase = !/\b(?:select|from|where|insert|update|delete|with)\b/.test(sql);
  const source = keywordCompletionSource(dialect, isUpperCase);
  const result = await source(new CompletionContext(state, at, true));
  return (result?.options ?? []).map(({ label, type }) => ({
    label,
    kind: type === "type" ? "enum" : "function",
    detail: type === "type" ? texts.sqlType : texts.sqlKeyword,
    boost: -1,
  }));
}
