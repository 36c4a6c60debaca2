/** Directories that are removed at the end of the test. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { openStore } from "../../src/store/database.ts";
import type { StateDatabase, StateLocation } from "../../src/core/postgres-address.ts";
import { databaseFileIn, openStateDirectory } from "../../src/store/state-directory.ts";
import { databasePlace } from "./database-place.ts";
import { IS_POSTGRES, newDatabase } from "./postgres-databases.ts";

/** An empty directory that is removed at the end of the test. */
export function temporaryDirectory(place = tmpdir()): string {
  const path = mkdtempSync(join(place, "millrace-test-"));
  // A process that is about to end may still write into it.
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return path;
}

/** The bytes of a migrated database without content. Writing them takes a fraction of the time of the migrations. */
let migrated: Promise<Buffer> | undefined;

async function migrateOnce(): Promise<Buffer> {
  const directory = mkdtempSync(join(databasePlace(), "millrace-test-"));
  try {
    const store = await openStore(openStateDirectory(directory), systemClock);
    await store.close();
    return readFileSync(databaseFileIn(directory));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Where the state of tests is that belongs to a directory: with MILLRACE_TEST_STORE=postgres, in a database of the server. */
export const locationOf = (stateDir: string): StateLocation => ({
  stateDir,
  database: databases.get(stateDir),
});

const databases = new Map<string, StateDatabase>();

/** A new state directory with a migrated database, which has no keys and no content yet. */
export async function newStateDirectory(): Promise<string> {
  const path = temporaryDirectory(databasePlace());
  if (IS_POSTGRES) {
    databases.set(path, await newDatabase());
    return path;
  }
  migrated ??= migrateOnce();
  writeFileSync(databaseFileIn(path), await migrated, { mode: 0o600 });
  return path;
}
