/** The types of a PostgreSQL database that are not built in here, from its catalog. */
import type { PoolClient } from "pg";
import type { PgField } from "./cursor-query.ts";

/** Maximum number of types that are remembered. */
const MAX_TYPES = 5_000;

/** An array with the type of its elements, a domain with the type that it is based on, or any other type. */
export type PgCatalogType =
  | { kind: "array"; element: number; delimiter: string }
  | { kind: "domain"; base: number }
  | { kind: "other"; name: string };

/** Types by their ids. A type that is built in here is not among them. */
export type PgCatalog = ReadonlyMap<number, PgCatalogType>;

/** What has a type. */
type PgTyped = Pick<PgField, "dataTypeID">;

export interface PgTypes {
  /** Returns the types that are known, or undefined where one of these columns is not. */
  known(fields: readonly PgField[]): PgCatalog | undefined;
  /** Reads the types of these columns or parameters that are not known. If this fails in a transaction, the transaction fails. */
  learn(client: Pick<PoolClient, "query">, fields: readonly PgTyped[]): Promise<PgCatalog>;
}

/** The types with these ids, and what arrays and domains consist of, down to types that are neither. */
const TYPES = `
  WITH RECURSIVE found AS (
    SELECT oid, typtype, typbasetype, typelem, typoutput
      FROM pg_catalog.pg_type WHERE oid = ANY ($1::pg_catalog.oid[])
     UNION
    SELECT t.oid, t.typtype, t.typbasetype, t.typelem, t.typoutput
      FROM found f JOIN pg_catalog.pg_type t
        ON t.oid = CASE WHEN f.typtype = 'd' THEN f.typbasetype ELSE f.typelem END
     WHERE f.typtype = 'd' OR f.typoutput = 'pg_catalog.array_out'::pg_catalog.regproc
  )
  SELECT f.oid AS id, t.typname AS name, f.typtype = 'd' AS is_domain, f.typbasetype AS base, f.typelem AS element,
         f.typoutput = 'pg_catalog.array_out'::pg_catalog.regproc AS is_array, t.typdelim AS delimiter
    FROM found f JOIN pg_catalog.pg_type t ON t.oid = f.oid`;

interface TypeRow {
  id: number;
  name: string;
  is_domain: boolean;
  base: number;
  element: number;
  is_array: boolean;
  delimiter: string;
}

function typeOf({ name, is_domain, base, element, is_array, delimiter }: TypeRow): PgCatalogType {
  // A domain of an array has the array's output function.
  if (is_domain) return { kind: "domain", base };
  return is_array ? { kind: "array", element, delimiter } : { kind: "other", name };
}

/** @param isBuiltIn whether nothing has to be learned of the type with this id */
export function createPgTypes(isBuiltIn: (id: number) => boolean): PgTypes {
  // Replaced, never changed: a query keeps the types with which it began.
  let catalog: PgCatalog = new Map();
  const unknownIds = (fields: readonly PgTyped[]): number[] =>
    fields.map(({ dataTypeID }) => dataTypeID).filter((id) => !isBuiltIn(id) && !catalog.has(id));
  return {
    known: (fields) => (unknownIds(fields).length === 0 ? catalog : undefined),
    async learn(client, fields) {
      const ids = unknownIds(fields);
      if (ids.length === 0) return catalog;
      // With all types of these columns, so that the rest can be left out.
      const wanted = catalog.size > MAX_TYPES ? fields.map(({ dataTypeID }) => dataTypeID) : ids;
      const { rows } = await client.query<TypeRow>(TYPES, [wanted]);
      catalog = new Map([
        ...(wanted === ids ? catalog : []),
        // The catalog does not have a type that was dropped meanwhile.
        ...ids.map((id): [number, PgCatalogType] => [id, { kind: "other", name: "unknown" }]),
        ...rows.map((row): [number, PgCatalogType] => [row.id, typeOf(row)]),
      ]);
      return catalog;
    },
  };
}
