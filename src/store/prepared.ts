/** Queries that are compiled once and run often: compiling a query costs several times as much as running it. */
import type { Compilable, CompiledQuery, Insertable, Kysely, RawBuilder } from "kysely";
import type { Schema } from "./schema.ts";
import type { ConcurrentAdapter } from "./sqlite-driver.ts";

/** Placeholder in a query for the value at `index`, which is bound at each run. */
class Placeholder {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/**
 * Prepares a query with placeholders.
 * @param build builds the query; it gets placeholders, which it may only use as values
 * @returns a function that runs the query on a connection or in a transaction, and returns the rows
 */
export function prepared<Values extends unknown[], Row>(
  build: (db: Kysely<Schema>, ...values: Values) => Compilable<Row>,
): (db: Kysely<Schema>, ...values: Values) => Promise<Row[]> {
  // The cache key is the adapter, which a connection shares with its transactions, and which differs between dialects.
  const compiledQueries = new WeakMap<object, CompiledQuery<Row>>();
  return async (db, ...values) => {
    const { adapter } = db.getExecutor();
    let query = compiledQueries.get(adapter);
    if (query === undefined) {
      query = build(db, ...(values.map((_, index) => new Placeholder(index)) as Values)).compile();
      compiledQueries.set(adapter, query);
    }
    const parameters = query.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.index] : parameter,
    );
    const bound = { ...query, parameters };
    const { executeDirect } = adapter as Partial<ConcurrentAdapter>;
    const { rows } = await (executeDirect === undefined
      ? db.executeQuery<Row>(bound)
      : executeDirect<Row>(bound));
    return rows;
  };
}

/**
 * Prepares the insert of one row. All rows must have the same columns.
 * @param computed columns whose values the database computes from those of the row
 */
export function preparedInsert<Table extends keyof Schema, Computed extends keyof Schema[Table] = never>(
  table: Table,
  computed: (row: Readonly<Record<string, unknown>>) => Record<Computed, RawBuilder<unknown>> = () =>
    ({}) as Record<Computed, never>,
): (db: Kysely<Schema>, row: Omit<Insertable<Schema[Table]>, Computed>) => Promise<void> {
  let columns: string[] = [];
  const insert = prepared((db, ...values: unknown[]) => {
    const row = Object.fromEntries(columns.map((column, index) => [column, values[index]]));
    return db.insertInto(table).values({ ...row, ...computed(row) } as never);
  });
  return async (db, row) => {
    if (columns.length === 0) columns = Object.keys(row);
    await insert(db, ...columns.map((column) => row[column as keyof typeof row]));
  };
}

/** A query that is written as SQL, to be prepared. */
export const statement = <Row>(db: Kysely<Schema>, query: RawBuilder<Row>): Compilable<Row> => ({
  compile: () => query.compile(db),
});
