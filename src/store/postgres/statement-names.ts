/** Names for the statements that run often, so that the server parses and plans each once for a connection. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** From how many runs on a statement has a name, as in pgJDBC (prepareThreshold). */
const NAMED_FROM = 5;
/** Maximum number of statements whose runs are counted. */
const MAX_COUNTED = 1_000;
/** Maximum number of names: the server keeps the plan of each, for each connection, until it ends. */
const MAX_NAMES = 300;

export interface StatementNames {
  /** Gives names from now on. Before, none has one: through PgBouncer in transaction mode the next transaction would miss it. */
  allow(): void;
  /** Gives all statements other names. Called when the server refuses a plan because a migration has changed its columns. */
  renew(): void;
  /** The name of a statement, to be used on any connection; undefined for one that rarely runs. */
  nameOf(sql: string, parameters: readonly unknown[]): string | undefined;
}

export function statementNames(): StatementNames {
  const counted = new LRUCache<string, { runs: number; digest: string | undefined }>({ max: MAX_COUNTED });
  let isAllowed = false;
  let names = 0;
  let generation = 0;
  return {
    allow: () => void (isAllowed = true),
    renew: () => void (generation += 1),
    nameOf(sql, parameters) {
      // Several statements in one text can't have a name; none of them has parameters.
      if (!isAllowed || parameters.length === 0) return undefined;
      let entry = counted.get(sql);
      if (entry === undefined) counted.set(sql, (entry = { runs: 0, digest: undefined }));
      entry.runs += 1;
      if (entry.runs < NAMED_FROM) return undefined;
      if (entry.digest === undefined && names >= MAX_NAMES) return undefined;
      if (entry.digest === undefined) names += 1;
      entry.digest ??= createHash("sha256").update(sql).digest("base64url").slice(0, 22);
      return `${generation}:${entry.digest}`;
    },
  };
}

/** For connections through a pooler of transactions, and for those that run few statements. */
export const UNNAMED: StatementNames = {
  allow: () => {},
  renew: () => {},
  nameOf: () => undefined,
};
