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
import { fakeClock } from "../support/instance.ts";
import { postgresStores } from "../support/postgres-stores.ts";

describe("PostgreSQL", () => {
  const { open, createDatabase } = postgresStores();

  /** Several stores on one database. */
  const postgres: ContractSetup = async (connections) => {
    const url = await createDatabase();
    const clock = fakeClock();
    const stores = await Promise.all(Array.from({ length: connections }, () => open(url, { clock })));
    return {
      clock,
      connections: stores.map((store) => ({
        read: engineReaders(store.read),
        transaction: engineTransaction(store, clock),
        write: unitOfWork(store, clock),
      })),
    };
  };

  storeContract(postgres);
  queueContract(postgres);
  lockingContract(postgres);
  backtestContract(postgres);
  bulkActionContract(postgres);
  interruptionContract(postgres);
});
