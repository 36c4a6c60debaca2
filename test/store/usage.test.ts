import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type MeteredResource,
  METERED_RESOURCES,
  usageLimitFor,
  windowEnd,
} from "../../src/core/usage-limits.ts";
import { DAY, HOUR } from "../../src/core/clock.ts";
import { purgeUsageCounts, usageReader, usageWriter } from "../../src/store/usage.ts";
import { JOURNAL_MODES, testStore } from "../support/store.ts";

type Store = Awaited<ReturnType<typeof testStore>>;

const add = ({ store }: Store, lineage: string, kind: MeteredResource, endsAt: number, amount: number) =>
  store.transaction((trx) => usageWriter(trx).add(lineage, kind, endsAt, amount));

describe("a window", () => {
  it("contains the current time, has the configured length, and is the same for all times in it", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 253_402_300_799_999 }),
        fc.constantFrom(HOUR, DAY),
        fc.nat(),
        (now, windowMs, later) => {
          const ends = windowEnd({ windowMs }, now);
          expect(ends).toBeGreaterThan(now);
          expect(ends - now).toBeLessThanOrEqual(windowMs);
          expect(ends % windowMs).toBe(0);
          const within = Math.min(now + later, ends - 1);
          expect(windowEnd({ windowMs }, within)).toBe(ends);
          expect(windowEnd({ windowMs }, ends)).toBe(ends + windowMs);
        },
      ),
    );
  });

  it("exists only for limited resources", () => {
    for (const kind of METERED_RESOURCES) expect(usageLimitFor({}, kind)).toBeUndefined();
    expect(usageLimitFor({ rows_per_day: 7 }, "rows")).toMatchObject({ max: 7, windowMs: DAY });
    expect(usageLimitFor({ runs_per_hour: 7 }, "runs")).toMatchObject({ max: 7, windowMs: HOUR });
  });
});

describe("usage counts", () => {
  it("are summed separately by lineage, resource and window", async () => {
    const world = await testStore();
    const counting = fc.record({
      lineage: fc.constantFrom("key_1", "key_2", "usr_1"),
      kind: fc.constantFrom(...METERED_RESOURCES),
      window: fc.constantFrom(HOUR, 2 * HOUR, DAY),
      amount: fc.integer({ min: 1, max: 2 ** 33 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(counting, { maxLength: 20 }), async (all) => {
        const sums = new Map<string, number>();
        await world.store.transaction(async (trx) => {
          await trx.deleteFrom("usage_counts").execute();
          for (const { lineage, kind, window, amount } of all) {
            const key = `${lineage} ${kind} ${window}`;
            sums.set(key, (sums.get(key) ?? 0) + amount);
            expect(await usageWriter(trx).add(lineage, kind, window, amount)).toBe(sums.get(key));
          }
        });
        for (const lineage of ["key_1", "key_2", "usr_1"])
          for (const kind of METERED_RESOURCES)
            for (const window of [HOUR, 2 * HOUR, DAY]) {
              const used = await usageReader(world.store.read).usedInWindow(lineage, kind, window);
              expect(used).toBe(sums.get(`${lineage} ${kind} ${window}`) ?? 0);
            }
      }),
      { numRuns: 25 },
    );
  });

  it("are rolled back with their transaction", async () => {
    const world = await testStore();
    await add(world, "key_1", "runs", HOUR, 1);
    await expect(
      world.store.transaction(async (trx) => {
        await usageWriter(trx).add("key_1", "runs", HOUR, 1);
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(await usageReader(world.store.read).usedInWindow("key_1", "runs", HOUR)).toBe(1);
  });

  it.each(JOURNAL_MODES)(
    "are complete when several processes count at the same time (%s)",
    async (_, local) => {
      const first = await testStore({ local });
      const { stateDir, clock } = first;
      const stores = [
        first,
        await testStore({ stateDir, clock, local }),
        await testStore({ stateDir, clock, local }),
      ];
      const seen = await Promise.all(
        stores.flatMap((one) => Array.from({ length: 20 }, () => add(one, "key_1", "rows", DAY, 3))),
      );
      expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (__, i) => 3 * (i + 1)));
      expect(await usageReader(first.store.read).usedInWindow("key_1", "rows", DAY)).toBe(180);
    },
  );

  it("are purged an hour after their window, because another process's clock may be behind", async () => {
    const world = await testStore();
    for (const lineage of ["key_1", "key_2", "key_3"]) await add(world, lineage, "runs", HOUR, 1);
    await add(world, "key_1", "runs", 3 * HOUR, 1);
    const purge = (now: number, limit = 2) =>
      world.store.transaction((trx) => purgeUsageCounts(trx, now, limit));
    expect([await purge(2 * HOUR - 1), await world.rows("usage_counts")]).toEqual([false, 4]);
    expect([await purge(2 * HOUR), await world.rows("usage_counts")]).toEqual([true, 2]);
    expect([await purge(2 * HOUR), await world.rows("usage_counts")]).toEqual([false, 1]);
  });
});
