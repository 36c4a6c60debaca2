import { describe, expect, it } from "vitest";
import { AppError } from "../../src/core/errors.ts";
import { getOrCreateKey } from "../../src/store/settings.ts";
import { assertVersionMatches } from "../../tools/workflows/assert-version.ts";
import { JOURNAL_MODES, testActor, testStore } from "../support/store.ts";

type Store = Awaited<ReturnType<typeof testStore>>;

async function several(count: number, local: boolean): Promise<Store[]> {
  const first = await testStore({ local });
  const { stateDir, clock } = first;
  const others = Array.from({ length: count - 1 }, () => testStore({ stateDir, clock, local }));
  return [first, ...(await Promise.all(others))];
}

describe.each(JOURNAL_MODES)("several stores on one %s", (_, local) => {
  it("use the chosen journal mode", async () => {
    const { store } = await testStore({ local });
    expect(store.journalMode).toBe(local ? "wal" : "delete");
  });

  it("lose no update that names its base version", async () => {
    const stores = await several(3, local);
    const { id } = await stores[0]!.create({ description: "0" });
    let conflicts = 0;
    let readers = 0;
    const allHaveRead = Promise.withResolvers<void>();

    async function addOne({ read, write }: Store): Promise<void> {
      for (;;) {
        const seen = (await read.find(id))!;
        readers += 1;
        if (readers === stores.length) allHaveRead.resolve();
        // So the first update of one is a conflict for the others.
        await allHaveRead.promise;
        const done = await write(async (tx) => {
          const current = (await tx.workflows.find(id))!;
          assertVersionMatches(current, seen.version);
          const description = String(Number(seen.description) + 1);
          return tx.workflows.addVersion(
            current,
            { ...current, description },
            { kind: "updated", reason: null, actor: testActor },
          );
        }).catch((error: unknown) => {
          if (error instanceof AppError && error.code === "version_conflict") return undefined;
          throw error;
        });
        if (done !== undefined) return;
        conflicts += 1;
      }
    }
    const rounds = 12;
    await Promise.all(
      stores.map(async (one) => {
        for (let i = 0; i < rounds; i += 1) await addOne(one);
      }),
    );
    const total = rounds * stores.length;
    const [{ read, rows }] = stores as [Store];
    expect(await read.find(id)).toMatchObject({ description: String(total), version: total + 1 });
    expect(await rows("workflow_versions")).toBe(total + 1);
    expect(await read.revision()).toBe(total + 1);
    // Without a conflict the test would prove nothing.
    expect(conflicts).toBeGreaterThanOrEqual(stores.length - 1);
  });

  it("give concurrent workflows of the same name unique ids", async () => {
    const stores = await several(3, local);
    const made = await Promise.all(stores.flatMap((one) => Array.from({ length: 8 }, () => one.create())));
    expect(new Set(made.map((one) => one.id)).size).toBe(24);
    const [{ read, rows }] = stores as [Store];
    expect([await rows("workflows"), await read.revision(), await rows("audit_log")]).toEqual([24, 24, 24]);
  });

  it("keep reading while another process holds the write lock", async () => {
    const [a, b] = (await several(2, local)) as [Store, Store];
    await a.create();
    await b.write(async () => {
      expect(await a.read.count({})).toBe(1);
      expect(await b.read.count({})).toBe(1);
    });
  });

  it("see only commits of other processes by the data version", async () => {
    const [a, b] = (await several(2, local)) as [Store, Store];
    const before = a.store.dataVersion();
    await a.read.count({});
    await b.read.count({});
    expect(a.store.dataVersion()).toBe(before);
    await b.create();
    const after = a.store.dataVersion();
    expect(after).not.toBe(before);
    expect(a.store.dataVersion()).toBe(after);
    await expect(b.write(() => Promise.reject(new Error("boom")))).rejects.toThrow("boom");
    expect(a.store.dataVersion()).toBe(after);
  });

  it("share one key for their cursors", async () => {
    const stores = await several(3, local);
    const keys = await Promise.all(stores.map((one) => getOrCreateKey(one.store, "cursor_key")));
    expect(keys[0]).toHaveLength(32);
    expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(1);
    expect(await getOrCreateKey(stores[0]!.store, "cursor_key")).toEqual(keys[0]);
  });
});
