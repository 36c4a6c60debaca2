import { describe } from "vitest";
import { engineReaders, engineTransaction } from "../../src/store/engine-transaction.ts";
import { unitOfWork } from "../../src/store/unit-of-work.ts";
import { backtestContract } from "../support/contracts/backtest-contract.ts";
import { bulkActionContract } from "../support/contracts/bulk-action-contract.ts";
import { interruptionContract } from "../support/contracts/interruption-contract.ts";
import { lockingContract } from "../support/contracts/locking-contract.ts";
import { queueContract } from "../support/contracts/queue-contract.ts";
import type { ContractSetup } from "../support/contracts/setup.ts";
import { storeContract } from "../support/contracts/store-contract.ts";
import { JOURNAL_MODES, testStore } from "../support/store.ts";

/** Several stores on one database file. */
const sqlite =
  (local: boolean): ContractSetup =>
  async (connections) => {
    const first = await testStore({ local });
    const { stateDir, clock } = first;
    const stores = [first.store];
    while (stores.length < connections) stores.push((await testStore({ stateDir, clock, local })).store);
    return {
      clock,
      connections: stores.map((store) => ({
        read: engineReaders(store.read),
        transaction: engineTransaction(store, clock),
        write: unitOfWork(store, clock),
      })),
    };
  };

describe.each(JOURNAL_MODES)("SQLite with a %s", (_, local) => {
  storeContract(sqlite(local));
  queueContract(sqlite(local));
  lockingContract(sqlite(local));
  backtestContract(sqlite(local));
  bulkActionContract(sqlite(local));
  interruptionContract(sqlite(local));
});
