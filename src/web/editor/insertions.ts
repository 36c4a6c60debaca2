/** What the database browser inserts into a definition: the name of a table or column in a query, or a whole step. */
import { isMap, isSeq, parseDocument } from "yaml";
import * as texts from "#texts/editor";
import type { Format } from "./format.ts";
import { asList, asObject } from "./path.ts";
import { patchText } from "./patch-text.ts";
import { sqlContextAt } from "./sql-context.ts";

interface Insertion {
  text: string;
  /** Where the cursor is afterwards. */
  cursor: number;
}

/**
 * Inserts a name at the cursor, if that is in the query of an `sql` step. Names that follow each other are separated:
 * columns by a comma, others by a space.
 * @returns undefined if the cursor is in no query
 */
export function insertName(
  text: string,
  pos: number,
  format: Format,
  { name, kind }: { name: string; kind: "table" | "column" },
): Insertion | undefined {
  const context = sqlContextAt(text, pos, format);
  if (context === undefined) return undefined;
  const before = text.slice(context.from, pos);
  const written = separator(before, kind) + escaped(name, context.quote);
  return { text: text.slice(0, pos) + written + text.slice(pos), cursor: pos + written.length };
}

/** Words behind which a name is no next item of a list. */
const KEYWORD_END =
  /(?:^|[^\w.])(?:select|distinct|all|from|join|where|and|or|not|on|by|having|in|like|between|set|into|update|when|then|else|case|as|limit)$/i;

function separator(before: string, kind: "table" | "column"): string {
  if (!/[\w")`\]]$/.test(before)) return "";
  return kind === "column" && !KEYWORD_END.test(before) ? ", " : " ";
}

/** @param quote that of the string that contains the query; undefined in a block or a plain string */
function escaped(name: string, quote: '"' | "'" | undefined): string {
  if (quote === '"') return JSON.stringify(name).slice(1, -1);
  return quote === "'" ? name.replaceAll("'", "''") : name;
}

/**
 * Adds an `sql` step after the step at the cursor, or as the last one.
 * @param database undefined for the default database
 * @throws Error if the text can't be parsed
 */
export function insertSqlStep(
  text: string,
  pos: number,
  format: Format,
  { table, database, query }: { table: string; database: string | undefined; query: string },
): Insertion {
  const source = text.trim() === "" && format === "json" ? "{}\n" : text;
  const document = parseDocument(source, { version: "1.2", schema: "core", logLevel: "error" });
  if (document.errors.length > 0) throw new Error(texts.fixSyntaxFirst);
  const root = asObject(document.toJS({ maxAliasCount: 100 }));
  const ids = asList(root["steps"]).map((step) => asObject(step)["id"]);
  const step = {
    id: freeId(table, ids),
    type: "sql",
    ...(database !== undefined && { database }),
    query: format === "json" ? query.trimEnd() : query,
  };
  const steps = isMap(document.contents) ? document.contents.get("steps", true) : undefined;
  const at = isSeq(steps) ? indexAfter(steps.items, pos) : undefined;
  const changed =
    at !== undefined
      ? patchText(source, format, [{ op: "add", path: `/steps/${at}`, value: step }])
      : document.contents === null
        ? patchText("{}", format, [{ op: "add", path: "/steps", value: [step] }])
        : patchText(source, format, [{ op: "add", path: "/steps", value: [step] }]);
  return { text: changed, cursor: endOfStep(changed, at ?? 0) };
}

/** The index behind the step that contains a position; behind the last one for a position in none. */
function indexAfter(items: readonly unknown[], pos: number): number {
  const found = items.findIndex((item) => {
    if (!isMap(item) || !item.range) return false;
    const [from, , to] = item.range;
    return pos >= from && pos < to;
  });
  return found === -1 ? items.length : found + 1;
}

function freeId(table: string, taken: readonly unknown[]): string {
  const base =
    table
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "_")
      .replace(/^[^a-z]+|_+$/g, "") || "query";
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base.slice(0, 60) : `${base.slice(0, 60)}_${number}`;
    if (!taken.includes(id)) return id;
  }
}

/** The end of the query of a step, without the line break behind it. */
function endOfStep(text: string, index: number): number {
  const document = parseDocument(text, { version: "1.2", schema: "core", logLevel: "error" });
  const query = document.getIn(["steps", index, "query"], true) as
    { range?: [number, number, number] } | undefined;
  return query?.range === undefined ? text.length : text.slice(0, query.range[1]).trimEnd().length;
}
