/** What a database supplies to be tested against the contracts of src/core: connections that act as so many processes. */
import { accessEverywhere } from "../../../src/core/access.ts";
import type { Clock } from "../../../src/core/clock.ts";
import type { UnitOfWork, Writers } from "../../../src/core/ports.ts";
import type { Actor } from "../../../src/core/principal.ts";
import type { EngineReaders, EngineTransaction } from "../../../src/core/run-ports.ts";

/** A connection to the database under test. Its transactions run independently of those of other connections. */
export interface ContractConnection {
  read: EngineReaders;
  transaction: EngineTransaction;
  write: UnitOfWork;
}

export interface ContractDatabase {
  connections: readonly ContractConnection[];
  /** The clock of all connections. Only `advance` changes its time. */
  clock: Clock & { advance(ms: number): void };
}

/** Opens a new, empty, migrated database with a number of connections, and closes it at the end of the test. */
export type ContractSetup = (connections: number) => Promise<ContractDatabase>;

/** Runs `action` for several callers at the same time, dealt out over the connections. */
export const concurrently = <T>(
  { connections }: ContractDatabase,
  callers: number,
  action: (connection: ContractConnection, caller: number) => Promise<T>,
): Promise<T[]> =>
  Promise.all(
    Array.from({ length: callers }, (_, caller) => action(connections[caller % connections.length]!, caller)),
  );

/** Lets other callers run, as a query over a network would. */
export const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const ACTOR: Actor = {
  principal: {
    kind: "key",
    keyId: "key_1",
    keyName: "ci",
    owner: "operator",
    lineage: "key_1",
    scopes: new Set(["write"]),
    access: accessEverywhere(["write"]),
  },
  client: { surface: "rest", name: "vitest" },
};

/** Inserts the workflow "weekly-revenue". */
export const createWorkflow = (tx: Writers) =>
  tx.workflows.insert(
    { name: "Weekly revenue", description: "", tags: [], definition: null },
    { kind: "created", reason: null, actor: ACTOR },
  );
