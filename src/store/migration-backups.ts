/** Copies of the database that migrations leave beside it, so that there is a way back to the release before. */
import { readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { type Clock, iso } from "../core/clock.ts";
import type { MigrationBackup } from "./migrate.ts";
import {
  removeStalePartials,
  copyDatabase,
  partialPathFor,
  finalizeCopy,
  syncFile,
} from "./database-copy.ts";
import type { StateDirectory } from "./state-directory.ts";

const KEPT = 2;

const momentOf = (name: string): string => name.slice(name.lastIndexOf("-") + 1);

/**
 * Copies the database, while the write lock is held on another connection, to
 * `millrace.db.before-<newest migration>-<moment>`.
 * @param newest the migration that it will be at
 * @throws AppError storage_unavailable when there is no room
 */
export function createMigrationBackup(
  { path, databaseFile }: Pick<StateDirectory, "path" | "databaseFile">,
  newest: number,
  clock: Clock,
): MigrationBackup {
  const prefix = `${basename(databaseFile)}.before-`;
  const isCopy = (name: string): boolean => name.startsWith(prefix);
  removeStalePartials(path, isCopy);
  const moment = iso(clock.now()).replaceAll(/[-:.]/g, "");
  const file = join(path, `${prefix}${newest}-${moment}`);
  const partial = partialPathFor(file);
  copyDatabase(databaseFile, partial);
  syncFile(partial);
  finalizeCopy(partial, file);
  return {
    file,
    pruneOlder() {
      const older = readdirSync(path)
        .filter((name) => /^\d+-\d+T\d+Z$/.test(isCopy(name) ? name.slice(prefix.length) : ""))
        .filter((name) => name !== basename(file))
        .toSorted((a, b) => (momentOf(a) < momentOf(b) ? 1 : -1));
      for (const name of older.slice(KEPT - 1)) rmSync(join(path, name), { force: true });
    },
    discard: () => rmSync(file, { force: true }),
  };
}
