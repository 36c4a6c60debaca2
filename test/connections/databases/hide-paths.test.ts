/** What hiding the paths of a database costs: the results of queries can be large, and few have a path. */
import { expect, it, vi } from "vitest";
import type { Driver } from "../../../src/connections/databases/driver.ts";
import { hidingPaths } from "../../../src/connections/databases/hide-paths.ts";

const FILE = "/srv/data/shop.db";

/** A query of a database in `FILE` with these rows. */
async function queried(rows: object[], paths: Iterable<string> = [FILE]) {
  const result = { columns: [{ name: "a", type: "TEXT" }], rows, truncated: false };
  const driver = { query: () => Promise.resolve(result) } as unknown as Driver;
  const shown: unknown = await hidingPaths(driver, new Set(paths)).query(
    ...([] as unknown as Parameters<Driver["query"]>),
  );
  return { result, shown };
}

it("searches a result without a path, and neither copies nor serializes it", async () => {
  const stringify = vi.spyOn(JSON, "stringify");
  const { result, shown } = await queried(
    Array.from({ length: 100 }, (_, n) => ({ a: `/srv/data ${n}`, n, b: null })),
  );
  expect(shown).toBe(result);
  expect(stringify).not.toHaveBeenCalled();
});

it("searches no further than the first path before it copies", async () => {
  let reads = 0;
  const last = Object.defineProperty({}, "a", { enumerable: true, get: () => (reads += 1) });
  const { shown } = await queried([{ a: FILE }, last]);
  expect(reads).toBe(1);
  expect(shown).toMatchObject({ rows: [{ a: "(database file)" }, {}] });
});

it("hides each of several paths, the longest first, in values and names, in any case", async () => {
  const { shown } = await queried(
    [{ a: [`${FILE}.wal ${FILE.toUpperCase()}`], [FILE]: { b: "x/mnt/(1)/shop.db" } }],
    [FILE, `${FILE}.wal`, "/mnt/(1)/shop.db"],
  );
  expect(shown).toMatchObject({
    rows: [{ a: ["(database file) (database file)"], "(database file)": { b: "x(database file)" } }],
  });
});
