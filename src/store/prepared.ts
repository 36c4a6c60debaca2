/** Queries that are built and compiled once and then run often: the building costs several times what running does. */
import type { Compilable, CompiledQuery, Insertable, Kysely } from "kysely";
import type { Schema } from "./schema.ts";
import type { ConcurrentAdapter } from "./sqlite-driver.ts";

/** Stands in a query for the value at `index`, which comes when it is run. */
class Slot {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/**
 * A query with values to come.
 * @param build makes it; what it is given for a value may only be used as one, not looked at
 * @returns a function that runs it on a connection or in a transaction, and gives the rows
 */
export function prepared<Values extends unknown[], Row>(
  build: (db: Kysely<Schema>, ...values: Values) => Compilable<Row>,
): (db: Kysely<Schema>, ...values: Values) => Promise<Row[]> {
  // By adapter: a connection and the transactions on it share one, another dialect has another.
  const known = new WeakMap<object, CompiledQuery<Row>>();
  return async (db, ...values) => {
    const { adapter } = db.getExecutor();
    let query = known.get(adapter);
    if (query === undefined) {
      query = build(db, ...(values.map((_, index) => new Slot(index)) as Values)).compile();
      known.set(adapter, query);
    }
    const parameters = query.parameters.map((it) => (it instanceof Slot ? values[it.index] : it));
    const bound = { ...query, parameters };
    const { executeDirect } = adapter as Partial<ConcurrentAdapter>;
    const { rows } = await (executeDirect === undefined
      ? db.executeQuery<Row>(bound)
      : executeDirect<Row>(bound));
    return rows;
  };
}

/** The insert of one row. Every row that it is given names the same columns. */
export function preparedInsert<Table extends keyof Schema>(
  table: Table,
): (db: Kysely<Schema>, row: Insertable<Schema[Table]>) => Promise<void> {
  let columns: string[] = [];
  const insert = prepared((db, ...values: unknown[]) =>
    db
      .insertInto(table)
      .values(Object.fromEntries(columns.map((column, index) => [column, values[index]])) as never),
  );
  return async (db, row) => {
    if (columns.length === 0) columns = Object.keys(row);
    await insert(db, ...columns.map((column) => row[column as keyof typeof row]));
  };
}
