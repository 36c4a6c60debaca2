import { describe } from "vitest";
import { postgresContracts } from "../support/contracts/postgres-contracts.ts";
import { postgresStores } from "../support/postgres-stores.ts";

describe("PostgreSQL", () => {
  postgresContracts(postgresStores());
});
