import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { apiKeyStore } from "../../src/store/api-keys.ts";
import { preparedUntilCommit, statement } from "../../src/store/prepared.ts";
import { createKey } from "../../src/auth/api-keys.ts";
import { digestOf } from "../../src/auth/key-format.ts";
import { JOURNAL_MODES, testStore } from "../support/store.ts";

/** A query that counts how often it reads. */
function counting() {
  let reads = 0;
  const query = preparedUntilCommit(
    (db, name: string) =>
      statement(db, sql<{ value: number }>`select value from counters where name = ${name}`),
    (name) => name,
    ({ value }) => {
      reads += 1;
      return { value };
    },
  );
  return { query, reads: () => reads };
}

describe.each(JOURNAL_MODES)("a remembered query on one %s", (_, local) => {
  it("reads again after a commit of its own process and of another one, and only then", async () => {
    const own = await testStore({ local });
    const other = await testStore({ stateDir: own.stateDir, clock: own.clock, local });
    const { query, reads } = counting();
    const read = async () => (await query(own.store.read, "workflows"))?.value;

    const start = (await read())!;
    await read();
    expect(reads()).toBe(1);
    await own.create();
    expect([await read(), await read(), reads()]).toEqual([start + 1, start + 1, 2]);
    await other.create();
    expect([await read(), await read(), reads()]).toEqual([start + 2, start + 2, 3]);
    await expect(other.write(() => Promise.reject(new Error("boom")))).rejects.toThrow("boom");
    expect([await read(), reads()]).toEqual([start + 2, 3]);
  });

  it("keeps the answers of different values apart", async () => {
    const { store, create } = await testStore({ local });
    await create();
    const { query } = counting();
    const [workflows, missing] = [await query(store.read, "workflows"), await query(store.read, "nothing")];
    expect([workflows?.value, missing]).toEqual([1, undefined]);
    expect(await query(store.read, "workflows")).toBe(workflows);
  });

  it("sees in a transaction what the transaction has written", async () => {
    const { store, create } = await testStore({ local });
    await create();
    const { query } = counting();
    const before = (await query(store.read, "workflows"))!.value;
    await store.transaction(async (trx) => {
      expect((await query(trx, "workflows"))!.value).toBe(before);
      await trx
        .updateTable("counters")
        .set({ value: before + 5 })
        .where("name", "=", "workflows")
        .execute();
      expect((await query(trx, "workflows"))!.value).toBe(before + 5);
      expect((await query(store.read, "workflows"))!.value).toBe(before);
    });
    expect((await query(store.read, "workflows"))!.value).toBe(before + 5);
  });

  it("notices at the next request that another process has revoked the key", async () => {
    const own = await testStore({ local });
    const other = await testStore({ stateDir: own.stateDir, clock: own.clock, local });
    const [keys, others] = [own, other].map(({ store }) => apiKeyStore(store, own.clock));
    const { value, record } = await createKey(keys!, own.clock, { name: "a", owner: "operator" });
    expect((await keys!.findByDigest(digestOf(value)))?.revokedAt).toBeNull();
    await others!.revoke(record.id, new Date(own.clock.now()).toISOString(), "operator");
    expect((await keys!.findByDigest(digestOf(value)))?.revokedAt).not.toBeNull();
  });
});
