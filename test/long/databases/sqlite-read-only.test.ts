/** SQLite files on a medium that can't be written, by root neither. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSqliteFile, openDatabases } from "../../support/databases.ts";

const SHOP = "PRAGMA journal_mode=WAL; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)";
let medium: string;

const folder = (name: string): string => {
  mkdirSync(join(medium, name));
  return join(medium, name);
};

beforeAll(() => {
  medium = mkdtempSync(join(tmpdir(), "millrace-medium-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", medium]);
  createSqliteFile(folder("unused"), SHOP);
  createSqliteFile(folder("plain"), "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
  const live = new DatabaseSync(createSqliteFile(folder("live"), SHOP));
  live.exec("INSERT INTO t VALUES (2)");
  for (const copy of ["unfinished", "complete"]) {
    const to = folder(copy);
    const files =
      copy === "complete" ? ["shop.db", "shop.db-wal", "shop.db-shm"] : ["shop.db", "shop.db-wal"];
    for (const file of files) copyFileSync(join(medium, "live", file), join(to, file));
  }
  live.close();
  execFileSync("mount", ["-o", "remount,ro", medium]);
});
afterAll(() => {
  execFileSync("umount", [medium]);
  rmdirSync(medium);
});

const shop = (name: string) =>
  openDatabases([
    { name: "shop", type: "sqlite", dataset: join(medium, name, "shop.db"), access: "read-write" },
  ]);

describe("a SQLite database that can't be written", () => {
  it.each([
    ["unused", [{ a: 1 }]],
    ["plain", [{ a: 1 }]],
    ["complete", [{ a: 1 }, { a: 2 }]],
  ])("is read: %s", async (name, rows) => {
    const before = readdirSync(join(medium, name));
    expect((await shop(name).runQuery("shop", "SELECT a FROM t")).rows).toEqual(rows);
    expect(readdirSync(join(medium, name))).toEqual(before);
  });

  it("is refused with what to do, where its changes need a file beside it", async () => {
    const error = await shop("unfinished").queryError("shop", "SELECT a FROM t");
    expect(error.code).toBe("database_unavailable");
    expect(error.message).toContain("in its -wal file that can't be read");
    expect(error.options.fix).toContain("wal_checkpoint(TRUNCATE)");
  });

  it("says on a write that the file has to be writable", async () => {
    const error = await shop("plain").queryError("shop", "INSERT INTO t VALUES (3)", {}, { write: true });
    expect(error).toMatchObject({ code: "database_read_only" });
    expect(error.options.fix).toContain("writable");
  });
});
