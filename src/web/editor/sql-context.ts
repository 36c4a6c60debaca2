/** Finds the SQL around the cursor: the `query` of an `sql` step, with what completion needs of the step. */
import { cursorContextAt } from "./cursor-context.ts";
import type { Format } from "./format.ts";
import { asObject, type Path, valueAt } from "./path.ts";

export interface SqlContext {
  /** Start of the SQL in the text: behind the header of a block string, or the quote. */
  from: number;
  /** The SQL. Each character is at its place in the text, so escaped line breaks are two spaces. */
  sql: string;
  /** The quote of the string; undefined in a block or a plain string. */
  quote: '"' | "'" | undefined;
  /** The `database` of the step; undefined if it names none. */
  database: string | undefined;
  /** The names in the `params` of the step. */
  params: string[];
  /** The `tables` of the step, with the lists that they are loaded from. */
  tables: Readonly<Record<string, unknown>>;
}

/** @returns undefined when the cursor is not in the query of an `sql` step */
export function sqlContextAt(text: string, pos: number, format: Format): SqlContext | undefined {
  const context = cursorContextAt(text, pos, format);
  if (context === undefined || context.role === "key" || !isQuery(context.path)) return undefined;
  const step = asObject(valueAt(context.root, context.path.slice(0, -1)));
  // A step without a type is not known to be another one.
  if (step["type"] !== "sql" && step["type"] !== undefined) return undefined;
  const { database } = step;
  const { textFrom, textTo } = context;
  const header = /^(?:[|>][^\n]*\n|["'])?/.exec(text.slice(textFrom, textTo))![0];
  const from = textFrom + header.length;
  if (pos < from) return undefined;
  const quote = header === '"' || header === "'" ? header : undefined;
  return {
    from,
    sql: text
      .slice(from, Math.max(pos, textTo - (quote === undefined ? 0 : 1)))
      .replace(/\\[nrt]/g, (escape) => (quote === '"' ? "  " : escape)),
    quote,
    database: typeof database === "string" && database !== "" ? database : undefined,
    params: Object.keys(asObject(step["params"])),
    tables: asObject(step["tables"]),
  };
}

/** `query` of a step, of its undo, or of the step in a `repeat`. */
const isQuery = (path: Readonly<Path>): boolean => path[0] === "steps" && path.at(-1) === "query";
