import { describe, expect, it } from "vitest";
import { DAY, iso } from "../../src/core/clock.ts";
import { chainHead } from "../../src/store/audit-entries.ts";
import { assertNoOlderCopies } from "../../src/store/older-copies.ts";
import { purgeAuditLog } from "../../src/store/purge-audit-log.ts";
import { verifyAuditLog } from "../../src/store/verify-audit-chain.ts";
import { JOURNAL_MODES, testStore } from "../support/store.ts";

type World = Awaited<ReturnType<typeof testStore>>;

/** Adds entries as this release does. */
async function add({ write }: Pick<World, "write">, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await write((tx) => tx.recordAudit(`target-${n}`));
}

/** Adds entries as a release does that knows no chain. */
async function addAsOlderRelease({ store, clock }: World, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await store.transaction((trx) =>
      trx
        .insertInto("audit_log")
        .values({
          at: iso(clock.now()),
          operation: "publish_workflow",
          target: `target-${n}`,
          owner: "ann@example.com",
          key_name: "ci",
          surface: "rest",
          client: "curl/8",
          request_id: "req_1",
        })
        .execute(),
    );
}

const purge = ({ store, clock }: World, keepMs: number, limit = 2_000) =>
  store.transaction((trx) =>
    purgeAuditLog(trx, { before: iso(clock.now() - keepMs), now: iso(clock.now()), limit }),
  );

/** Deletes the oldest entries as an older release does: without a record of it. */
const purgeAsOlderRelease = ({ store }: World, lastId: number) =>
  store.transaction((trx) => trx.deleteFrom("audit_log").where("id", "<=", lastId).execute());

const finishUpgrade = ({ store }: World) => store.transaction((trx) => assertNoOlderCopies(trx));

const verify = ({ store }: Pick<World, "store">, options?: Parameters<typeof verifyAuditLog>[1]) =>
  verifyAuditLog(store.read, options);

describe("the stored hash chain", () => {
  it("has not begun before the first entry", async () => {
    expect(await verify(await testStore())).toBeUndefined();
  });

  it("covers every entry of a new instance, whatever its texts are", async () => {
    const world = await testStore();
    await world.write(async (tx) => {
      // The database stores no lone surrogates.
      await tx.recordAudit("a\ud800b\u0000c", "ü\u007f😀");
      await tx.recordAudit("finance", undefined, { project: "finance", details: { b: "\udfff", a: 1 } });
    });
    const found = (await verify(world))!;
    expect(found).toMatchObject({ verified: 2, broken: undefined, start: { id: 0 }, missing: undefined });
    expect(found.head).toEqual(await chainHead(world.store.read));
  });

  it("records nothing of a change that fails", async () => {
    const world = await testStore();
    await add(world, 1);
    const failing = world.write(async (tx) => {
      await tx.recordAudit("target");
      throw new Error("boom");
    });
    await expect(failing).rejects.toThrow("boom");
    await add(world, 1);
    expect(await verify(world)).toMatchObject({ verified: 2, broken: undefined });
  });

  it.each(JOURNAL_MODES)("stays whole under concurrent writers on one %s", async (_, local) => {
    const first = await testStore({ local });
    const { stateDir, clock } = first;
    const worlds = [
      first,
      await testStore({ stateDir, clock, local }),
      await testStore({ stateDir, clock, local }),
    ];
    await Promise.all(worlds.flatMap((world) => [add(world, 10), add(world, 10)]));
    expect(await verify(first)).toMatchObject({ verified: 60, broken: undefined });
  });

  it("begins after the entries of an older release", async () => {
    const world = await testStore();
    await addAsOlderRelease(world, 3);
    expect(await verify(world)).toBeUndefined();
    await add(world, 2);
    expect(await verify(world)).toMatchObject({ verified: 2, start: { id: 3 }, unhashed: { count: 0 } });
  });

  it("covers what an older release writes beside this one, and lists it", async () => {
    const world = await testStore();
    await add(world, 2);
    await addAsOlderRelease(world, 3);
    expect(await verify(world)).toMatchObject({ verified: 5, unhashed: { count: 3, ids: [3, 4, 5] } });
    await add(world, 1);
    expect(await verify(world)).toMatchObject({ verified: 6, broken: undefined });
    await world.store.transaction((trx) =>
      trx.updateTable("audit_log").set({ owner: "eve@example.com" }).where("id", "=", 4).execute(),
    );
    expect(await verify(world)).toMatchObject({
      verified: 5,
      broken: { id: 3, lastId: 6, reason: "changed" },
    });
  });

  it("does not take an entry of this release without its hash for one of an older release", async () => {
    const world = await testStore();
    await add(world, 3);
    await world.store.transaction((trx) =>
      trx.updateTable("audit_log").set({ hash: null }).where("id", "=", 2).execute(),
    );
    expect((await verify(world))!.broken).toEqual({ id: 2, lastId: 2, reason: "hash removed" });
  });

  it.each([0, 1, 3, 5, 6])("stays whole when a purge deletes %i of 6 entries", async (purged) => {
    const world = await testStore();
    await add(world, Math.min(purged, 2));
    await addAsOlderRelease(world, Math.max(0, purged - 2));
    world.clock.advance(2 * DAY);
    await add(world, 6 - purged);
    const head = await chainHead(world.store.read);
    expect(await purge(world, DAY)).toBe(false);
    expect(await world.rows("audit_log")).toBe(6 - purged);
    expect(await verify(world)).toMatchObject({
      verified: 6 - purged,
      start: { id: purged },
      broken: undefined,
      missing: undefined,
      head,
    });
    await add(world, 1);
    expect(await verify(world)).toMatchObject({ verified: 7 - purged, broken: undefined, head: { id: 7 } });
  });

  it("stays whole when a purge takes several transactions", async () => {
    const world = await testStore();
    await add(world, 5);
    world.clock.advance(2 * DAY);
    expect(await purge(world, DAY, 2)).toBe(true);
    await add(world, 1);
    expect(await verify(world)).toMatchObject({ verified: 4, broken: undefined, start: { id: 2 } });
    expect([await purge(world, DAY, 2), await purge(world, DAY, 2)]).toEqual([true, false]);
    expect(await verify(world)).toMatchObject({ verified: 1, broken: undefined, start: { id: 5 } });
  });

  it("is verified while a purge deletes entries", async () => {
    const world = await testStore();
    await add(world, 3);
    world.clock.advance(2 * DAY);
    await add(world, 1);
    let queries = 0;
    const racing = world.store.read.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        queries += 1;
        // Between the first queries, which find where the chain begins, and those that read it.
        if (queries === 4) await purge(world, DAY);
        return result;
      },
    });
    expect(await verifyAuditLog(racing)).toMatchObject({ broken: undefined, verified: 1, start: { id: 3 } });
  });

  it("shows that the oldest entries are missing, and takes it from an older release until the next purge", async () => {
    const world = await testStore();
    await add(world, 4);
    await purgeAsOlderRelease(world, 2);
    expect(await verify(world)).toMatchObject({
      verified: 1,
      start: { id: 3 },
      missing: { from: 1, to: 2 },
      olderReleases: true,
    });
    await purge(world, DAY);
    expect(await verify(world)).toMatchObject({ start: { id: 3 }, missing: undefined });
  });

  it("takes it from an older release until the upgrade is finished", async () => {
    const world = await testStore();
    await add(world, 4);
    await purgeAsOlderRelease(world, 2);
    await finishUpgrade(world);
    expect(await verify(world)).toMatchObject({ verified: 1, missing: undefined, olderReleases: false });
  });

  it("keeps showing that the oldest entries are missing once no older release can run", async () => {
    const world = await testStore();
    await add(world, 4);
    await finishUpgrade(world);
    await purgeAsOlderRelease(world, 2);
    await purge(world, DAY);
    expect(await verify(world)).toMatchObject({ missing: { from: 1, to: 2 }, olderReleases: false });
  });

  it("verifies the newest entries only when asked to", async () => {
    const world = await testStore();
    await add(world, 6);
    expect(await verify(world, { newest: 2 })).toMatchObject({
      verified: 2,
      start: { id: 4 },
      partial: true,
    });
    expect(await verify(world, { newest: 6 })).toMatchObject({ verified: 6, partial: false });
  });

  it("compares an entry that was written down", async () => {
    const world = await testStore();
    await add(world, 2);
    const known = (await chainHead(world.store.read))!;
    await add(world, 2);
    const fate = async (link: typeof known) => (await verify(world, { known: link }))!.known;
    expect(await fate(known)).toBe("part of the chain");
    expect(await fate({ ...known, hash: "0".repeat(64) })).toBe("different");
    expect(await fate({ ...known, id: 5 })).toBe("missing");
    world.clock.advance(2 * DAY);
    await add(world, 1);
    await purge(world, DAY);
    expect(await fate((await chainHead(world.store.read))!)).toBe("part of the chain");
    expect(await fate(known)).toBe("purged");
  });
});
