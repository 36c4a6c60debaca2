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

/** Whether the one who runs a query does not need its result, so that a connection may send it with the next one. */
export const isDeferred = (query: CompiledQuery): boolean =>
  (query as Partial<Record<typeof DEFERRED, boolean>>)[DEFERRED] === true;

const DEFERRED = Symbol("deferred");

/**
 * Prepares a query with placeholders.
 * @param build builds the query; it gets placeholders, which it may only use as values
 * @returns a function that runs the query on a connection or in a transaction, and returns the rows
 */
export function prepared<Values extends unknown[], Row>(
  build: (db: Kysely<Schema>, ...values: Values) => Compilable<Row>,
): (db: Kysely<Schema>, ...values: Values) => Promise<Row[]> {
  return preparedQuery(build, false);
}

/**
 * Prepares a statement for transactions that has no result, or one that nobody needs. On PostgreSQL it is sent with the next statement
 * and takes no round trip of its own: if it fails, that statement fails, or the commit.
 */
export function preparedWrite<Values extends unknown[]>(
  build: (db: Kysely<Schema>, ...values: Values) => Compilable,
): (db: Kysely<Schema>, ...values: Values) => Promise<void> {
  const run = preparedQuery(build, true);
  return async (db, ...values) => {
    await run(db, ...values);
  };
}

function preparedQuery<Values extends unknown[], Row>(
  build: (db: Kysely<Schema>, ...values: Values) => Compilable<Row>,
  deferred: boolean,
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
    const bound = { ...query, parameters, [DEFERRED]: deferred };
    const { executeDirect } = adapter as Partial<ConcurrentAdapter>;
    const { rows } = await (executeDirect === undefined
      ? db.executeQuery<Row>(bound)
      : executeDirect<Row>(bound));
    return rows;
  };
}

/** Maximum number of rows that a query remembers, per connection. */
const MAX_REMEMBERED = 1_000;

/**
 * Prepares a query of one row that is remembered until the next commit, by any process: asking whether there was one costs a
 * fraction of the query. For what every request reads and few requests change. In transactions nothing is remembered.
 * @param keyOf what distinguishes the values of two queries
 * @param toResult called once for each row that is read; its result is shared and must not be changed
 * @returns a function that returns the result, or undefined when there is no row, which is not remembered
 */
export function preparedUntilCommit<Values extends unknown[], Row, Result>(
  build: (db: Kysely<Schema>, ...values: Values) => Compilable<Row>,
  keyOf: (...values: Values) => string,
  toResult: (row: Row) => Result,
): (db: Kysely<Schema>, ...values: Values) => Promise<Result | undefined> {
  const query = prepared(build);
  const memories = new WeakMap<object, { version: number; results: Map<string, Result> }>();
  return async (db, ...values) => {
    const { adapter } = db.getExecutor();
    const version = (adapter as Partial<ConcurrentAdapter>).dataVersion?.();
    let memory = memories.get(adapter);
    if (version !== undefined && memory?.version !== version)
      memories.set(adapter, (memory = { version, results: new Map() }));
    const key = keyOf(...values);
    const remembered = version === undefined ? undefined : memory?.results.get(key);
    if (remembered !== undefined) return remembered;
    const [row] = await query(db, ...values);
    if (row === undefined) return undefined;
    const result = toResult(row);
    // The row was read after the version: if there was a commit between them, the next request reads again.
    if (version !== undefined && memory!.results.size < MAX_REMEMBERED) memory!.results.set(key, result);
    return result;
  };
}

/**
 * Prepares a write of some columns of a row, once for each set of columns that it is called with; see `preparedWrite`.
 * @param build builds the statement from the columns, whose values are placeholders
 * @returns a function that runs it; columns that are undefined count as left out
 */
export function preparedForColumns<Columns extends object>(
  build: (db: Kysely<Schema>, columns: Columns) => Compilable,
): (db: Kysely<Schema>, columns: Columns) => Promise<void> {
  const queries = new Map<string, (db: Kysely<Schema>, ...values: unknown[]) => Promise<void>>();
  return (db, columns) => {
    const present = Object.entries(columns).filter(([, value]) => value !== undefined);
    const names = present.map(([name]) => name);
    const key = names.join();
    let query = queries.get(key);
    if (query === undefined) {
      query = preparedWrite((on, ...values: unknown[]) =>
        build(on, Object.fromEntries(names.map((name, index) => [name, values[index]])) as Columns),
      );
      queries.set(key, query);
    }
    return query(db, ...present.map(([, value]) => value as unknown));
  };
}

/**
 * Prepares the insert of one row; see `preparedWrite`.
 * @param computed columns whose values the database computes from those of the row
 */
export function preparedInsert<Table extends keyof Schema, Computed extends keyof Schema[Table] = never>(
  table: Table,
  computed: (row: Readonly<Record<string, unknown>>) => Record<Computed, RawBuilder<unknown>> = () =>
    ({}) as Record<Computed, never>,
): (db: Kysely<Schema>, row: Omit<Insertable<Schema[Table]>, Computed>) => Promise<void> {
  return preparedForColumns((db, row: Omit<Insertable<Schema[Table]>, Computed>) =>
    db.insertInto(table).values({ ...row, ...computed(row as Record<string, unknown>) } as never),
  );
}

/** A query that is written as SQL, to be prepared. */
export const statement = <Row>(db: Kysely<Schema>, query: RawBuilder<Row>): Compilable<Row> => ({
  compile: () => query.compile(db),
});
