/** What PostgreSQL has to do, whichever of its supported releases it is. */
import { describe, expect, it } from "vitest";
import { engineReaders, engineTransaction } from "../../../src/store/engine-transaction.ts";
import { MIGRATIONS } from "../../../src/store/migrate.ts";
import { BASELINE_MIGRATION } from "../../../src/store/postgres/baseline.ts";
import { unitOfWork } from "../../../src/store/unit-of-work.ts";
import { fakeClock } from "../instance.ts";
import type { postgresStores } from "../postgres-stores.ts";
import { postgresSchema } from "../schemas.ts";
import { deliveryContract } from "./delivery-contract.ts";
import { lockingContract } from "./locking-contract.ts";
import { overTimeContract } from "./over-time-contract.ts";
import { queueContract } from "./queue-contract.ts";
import type { ContractSetup } from "./setup.ts";
import { storeContract } from "./store-contract.ts";

export function postgresContracts({ open, createDatabase }: ReturnType<typeof postgresStores>): void {
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
  deliveryContract(postgres);
  lockingContract(postgres);
  overTimeContract(postgres);

  describe("the schema", () => {
    it("is the same after one migration at a time as in a new database", async () => {
      const [upgraded, created] = await Promise.all([
        createDatabase({ template: "template0" }),
        createDatabase({ template: "template0" }),
      ]);
      for (const { id } of MIGRATIONS.filter(({ id: one }) => one >= BASELINE_MIGRATION)) {
        const store = await open(upgraded, { migrations: MIGRATIONS.filter(({ id: one }) => one <= id) });
        await store.close();
      }
      const [after, expected] = await Promise.all([open(upgraded), open(created)]);
      expect(await postgresSchema(after.read)).toEqual(await postgresSchema(expected.read));
    });
  });
}
