import { describe, expect, it } from "vitest";
import { checkAuditLog } from "../../src/commands/doctor/audit.ts";
import { iso } from "../../src/core/clock.ts";
import { createBackup, createRestoredDatabase } from "../../src/store/backup.ts";
import { join } from "node:path";
import { rename } from "node:fs/promises";
import { temporaryDirectory } from "../support/instance.ts";
import { testStore } from "../support/store.ts";

async function withEntries(count: number) {
  const world = await testStore();
  for (let n = 0; n < count; n += 1) await world.write((tx) => tx.recordAudit(`target-${n}`));
  return {
    ...world,
    check: (full = false) => checkAuditLog(world.stateDir, full),
    change: (id: number, set: object) =>
      world.store.transaction((trx) => trx.updateTable("audit_log").set(set).where("id", "=", id).execute()),
    remove: (id: number) =>
      world.store.transaction((trx) => trx.deleteFrom("audit_log").where("id", "=", id).execute()),
    finishUpgrade: () =>
      world.store.transaction((trx) =>
        trx.updateTable("migrations").set({ requires: 25 }).where("id", "=", 25).execute(),
      ),
    addAsOlderRelease: () =>
      world.store.transaction((trx) =>
        trx
          .insertInto("audit_log")
          .values({
            at: iso(world.clock.now()),
            operation: "publish_workflow",
            target: "t",
            owner: "operator",
            surface: "rest",
            client: "c",
          })
          .execute(),
      ),
  };
}

describe("the audit check of doctor", () => {
  it("verifies every entry", async () => {
    const { check } = await withEntries(3);
    expect(await check()).toMatchObject({ status: "ok", detail: "3 entries, all fit" });
    expect(await (await withEntries(0)).check()).toMatchObject({
      status: "ok",
      detail: "no entry with a hash yet",
    });
    expect(await checkAuditLog(join(temporaryDirectory(), "none"), true)).toBeUndefined();
  });

  it("reports entries of an older release, with their ids, as a warning", async () => {
    const { check, addAsOlderRelease } = await withEntries(1);
    for (let n = 0; n < 12; n += 1) await addAsOlderRelease();
    expect(await check()).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("12 entries without a hash") as string,
    });
    expect((await check())!.detail).toContain("2, 3, 4, 5, 6, 7, 8, 9, 10, 11 …");
  });

  it.each([
    ["a changed entry", { owner: "eve@example.com" }, "entry 2 was changed, moved or added"],
    ["a removed hash", { hash: null }, "the hash of entry 2 was removed"],
  ])("reports %s as an error, with the first id", async (_, set, detail) => {
    const { check, change } = await withEntries(4);
    await change(2, set);
    expect(await check()).toMatchObject({ status: "error", detail });
  });

  it("reports a missing entry as an error", async () => {
    const { check, remove } = await withEntries(4);
    await remove(3);
    expect(await check(true)).toMatchObject({ status: "error", detail: "entry 3 is missing" });
  });

  it("reports missing oldest entries as an error, where no older release can have purged them", async () => {
    const { check, remove, finishUpgrade } = await withEntries(4);
    for (const id of [1, 2]) await remove(id);
    expect(await check()).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("entries 1 to 2 are missing") as string,
    });
    await finishUpgrade();
    expect(await check()).toMatchObject({
      status: "error",
      detail: "entries 1 to 2 are missing before the oldest entry, and no purge deleted them",
    });
  });

  it("finds nothing wrong with a restored backup, which continues the chain", async () => {
    const { store, clock } = await withEntries(3);
    const [backup, restored] = [join(temporaryDirectory(), "backup"), temporaryDirectory()];
    const { databaseFile } = store.directory;
    await createBackup({ databaseFile, partial: backup }, { at: iso(clock.now()), release: "1.0.0" });
    const partial = join(restored, "partial");
    await createRestoredDatabase({ file: backup, partial }, iso(clock.now()));
    await rename(partial, join(restored, "millrace.db"));
    expect(await checkAuditLog(restored, true)).toMatchObject({ status: "ok", detail: "4 entries, all fit" });
  });
});
