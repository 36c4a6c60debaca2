/** Copies the database before migrations, so that the previous release can be restored. */
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

/** Number of copies to keep. */
const MAX_COPIES = 2;

const timestampOf = (name: string): string => name.slice(name.lastIndexOf("-") + 1);

/**
 * Copies the database, while the write lock is held on another connection, to
 * `millrace.db.before-<newest migration>-<timestamp>`.
 * @param newest the migration that the database will have
 * @throws AppError storage_unavailable when the disk has too little space
 */
export function createMigrationBackup(
  { path, databaseFile }: Pick<StateDirectory, "path" | "databaseFile">,
  newest: number,
  clock: Clock,
): MigrationBackup {
  const prefix = `${basename(databaseFile)}.before-`;
  const isCopy = (name: string): boolean => name.startsWith(prefix);
  removeStalePartials(path, isCopy);
  const timestamp = iso(clock.now()).replaceAll(/[-:.]/g, "");
  const file = join(path, `${prefix}${newest}-${timestamp}`);
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
        .toSorted((a, b) => (timestampOf(a) < timestampOf(b) ? 1 : -1));
      for (const name of older.slice(MAX_COPIES - 1)) rmSync(join(path, name), { force: true });
    },
    discard: () => rmSync(file, { force: true }),
  };
}
