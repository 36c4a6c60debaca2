/**
 * Searches runs by text: their ids, inputs, outputs and errors. No index holds these texts: it would be written with every run, and
 * made of text that is mostly never searched. Instead a page reads the newest runs of its filter, which is bounded by number and
 * by size, and says where it stopped, so that the next page continues there. The texts are those that the pages of runs show: what
 * is masked was masked before it was stored.
 */
import { type Kysely, sql, type SqlBool } from "kysely";
import { LRUCache } from "lru-cache";
import { searchTerms } from "../../schemas/text.ts";
import type { ListPosition, RunFilter } from "../core/model.ts";
import type { RunError } from "../../schemas/run.ts";
import { listConditions, newestFirst, type RunKey, runsInOrder } from "./run-lists.ts";
import { parseReference } from "./run-values.ts";
import type { Schema } from "./schema.ts";

/** Maximum number of runs that one page reads. */
export const MAX_SEARCHED_RUNS = 10_000;
/** Maximum size of the texts that one page reads, in characters. */
const MAX_SEARCHED_CHARS = 16 * 1024 * 1024;
/** Maximum length of the part of a value that is searched, in characters of JSON. */
export const MAX_SEARCHED_VALUE_CHARS = 65_536;
/** About the number of runs whose keys one query reads. */
const KEYS = 1_000;
/** Number of runs whose texts are read at once: SQLite answers synchronously, and the texts are in memory together. */
const ROWS = 20;
/** Number of large values that one query reads. */
const LARGE_VALUES = 8;
/** Maximum size of the large values that a search keeps, in characters. */
const MAX_KEPT_CHARS = 16 * MAX_SEARCHED_VALUE_CHARS;
/** From this length on the beginning of an id is found by the index of ids, in characters. */
const MIN_ID_CHARS = 8;
/** Maximum number of runs with the same beginning of an id. */
const MAX_SAME_BEGINNING = 200;

interface SearchResult {
  keys: RunKey[];
  /** Where the next page begins; null at the end of the list. */
  next: ListPosition | null;
}

type Query = { filter: RunFilter & { search: string }; after: ListPosition | null; limit: number };

/** At most `limit` runs of a filter that contain all words of its search, newest first. There may be none, and further pages. */
export async function searchRuns(db: Kysely<Schema>, query: Query): Promise<SearchResult> {
  const { filter, after } = query;
  const id = filter.search.trim();
  if (after === null && id.startsWith("run_") && id.length >= MIN_ID_CHARS && !/\s/.test(id)) {
    const keys = await runsById(db, filter, id);
    if (keys.length > 0) return { keys, next: null };
  }
  return scanRuns(db, query);
}

async function runsById(db: Kysely<Schema>, filter: RunFilter, beginning: string): Promise<RunKey[]> {
  const conditions = [
    sql<SqlBool>`id >= ${beginning}`,
    // Ids contain only ASCII.
    sql<SqlBool>`id < ${`${beginning}~`}`,
    ...listConditions(filter),
  ];
  const { rows } = await sql<RunKey>`
    select id, created_at from runs where ${sql.join(conditions, sql` and `)}
    order by id limit ${sql.lit(MAX_SAME_BEGINNING)}`.execute(db);
  return rows.toSorted(newestFirst);
}

async function scanRuns(db: Kysely<Schema>, { filter, after, limit }: Query): Promise<SearchResult> {
  const terms = searchTerms(filter.search).map((word) => [word, escaped(word)] as const);
  const found: RunKey[] = [];
  const readLarge = largeValueReader(db);
  let [at, runs, chars] = [after, 0, 0];
  for await (const keys of runsInOrder(db, { filter, after, size: KEYS })) {
    for (let from = 0; from < keys.length; from += ROWS) {
      const part = keys.slice(from, Math.min(from + ROWS, from + MAX_SEARCHED_RUNS - runs));
      if (part.length === 0) return { keys: found, next: at };
      const texts = await readTexts(db, filter, part, readLarge);
      for (const key of part) {
        const text = texts.get(key.id);
        at = [key.created_at, key.id];
        runs += 1;
        if (text === undefined) continue;
        chars += text.length;
        if (terms.every((forms) => forms.some((form) => text.includes(form)))) found.push(key);
        if (found.length >= limit || chars >= MAX_SEARCHED_CHARS) return { keys: found, next: at };
      }
    }
  }
  return { keys: found, next: null };
}

/** A word as the JSON of a text contains it. */
const escaped = (word: string): string => JSON.stringify(word).slice(1, -1);

/**
 * The texts of runs by their ids, in lower case. A run may be missing: its status or trigger is another one, or it was purged.
 */
async function readTexts(
  db: Kysely<Schema>,
  { status, trigger }: RunFilter,
  keys: readonly RunKey[],
  readLarge: LargeValueReader,
): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom("runs")
    .select(["id", "inputs", "output", "error"])
    .where(
      "id",
      "in",
      keys.map(({ id }) => id),
    )
    .$if(status !== undefined, (query) => query.where("status", "in", [...status!]))
    .$if(trigger !== undefined, (query) => query.where("trigger", "=", trigger!))
    .execute();
  const references = rows.flatMap(({ inputs, output }) =>
    [inputs, output].flatMap((column) => parseReference(column ?? "")?.id ?? []),
  );
  const large = await readLarge(new Set(references));
  const valueOf = (column: string | null): string => {
    const reference = parseReference(column ?? "");
    return reference === undefined ? (column ?? "").toLowerCase() : (large.get(reference.id) ?? "");
  };
  return new Map(
    rows.map(({ id, inputs, output, error }) => [
      id,
      [id.toLowerCase(), valueOf(inputs), valueOf(output), errorText(error)].join("\n"),
    ]),
  );
}

/** Returns the beginnings of large values by their numbers, in lower case. */
type LargeValueReader = (ids: ReadonlySet<number>) => Promise<Map<number, string>>;

/** Reads large values, and keeps the last ones: many runs may have the same. */
function largeValueReader(db: Kysely<Schema>): LargeValueReader {
  const kept = new LRUCache<number, { start: string }>({
    maxSize: MAX_KEPT_CHARS,
    sizeCalculation: ({ start }) => start.length + 1,
  });
  return async (ids) => {
    const found = new Map(
      [...ids].flatMap((id) => (kept.has(id) ? [[id, kept.get(id)!.start] as const] : [])),
    );
    const missing = [...ids].filter((id) => !found.has(id));
    for (let from = 0; from < missing.length; from += LARGE_VALUES) {
      const rows = await db
        .selectFrom("run_values")
        .select(["id", sql<string>`substr(body, 1, ${sql.lit(MAX_SEARCHED_VALUE_CHARS)})`.as("start")])
        .where("id", "in", missing.slice(from, from + LARGE_VALUES))
        .execute();
      for (const { id, start } of rows) {
        const lower = start.toLowerCase();
        found.set(id, lower);
        kept.set(id, { start: lower });
      }
    }
    return found;
  };
}

/** What a person reads of an error: without its field names, which all errors have. */
function errorText(column: string | null): string {
  if (column === null) return "";
  const { code, message, fix = "", step_id: step = "" } = JSON.parse(column) as RunError;
  return [code, message, fix, step].join("\n").toLowerCase();
}
