import { readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { hasWal, unusedWalFile } from "../../../src/connections/databases/sqlite-wal.ts";
import { createSqliteFile } from "../../support/databases.ts";
import { temporaryDirectory } from "../../support/instance.ts";

const IN_WAL_MODE = "PRAGMA journal_mode=WAL; CREATE TABLE t (a)";

describe("unusedWalFile", () => {
  it("finds a file in WAL mode that nobody has open, and whether it was written since", () => {
    const directory = temporaryDirectory();
    const file = createSqliteFile(directory, IN_WAL_MODE);
    const unused = unusedWalFile(file)!;
    const db = new DatabaseSync(unused.url, { readOnly: true });
    expect(db.prepare("SELECT count(*) AS n FROM t").all()).toEqual([{ n: 0 }]);
    db.close();
    expect([unused.isUnchanged(), readdirSync(directory)]).toEqual([true, ["shop.db"]]);
    const other = new DatabaseSync(file);
    other.exec("INSERT INTO t VALUES (1)");
    expect([unused.isUnchanged(), unusedWalFile(file), hasWal(file)]).toEqual([false, undefined, true]);
    other.close();
    expect([unused.isUnchanged(), hasWal(file)]).toEqual([false, false]);
  });

  it("leaves every other file to SQLite: in another mode, absent, or no database", () => {
    const directory = temporaryDirectory();
    expect(unusedWalFile(createSqliteFile(directory, "CREATE TABLE t (a)"))).toBe(undefined);
    expect(unusedWalFile(`${directory}/absent.db`)).toBe(undefined);
    expect(unusedWalFile("/dev/null")).toBe(undefined);
    expect(hasWal(`${directory}/absent.db`)).toBe(false);
  });
});
