import { describe, expect, it } from "vitest";
import { diskSpaceGuard, minFreeBytes, readDiskSpace } from "../../src/store/free-space.ts";

const MIB = 1024 ** 2;

/** A file system with a given free space, and a clock. */
function disk(free: number, minFree?: number) {
  const state = { free, now: 0, reads: 0, failing: false };
  const assertDiskSpace = diskSpaceGuard("/state", {
    minFree,
    now: () => state.now,
    read: async () => {
      state.reads += 1;
      if (state.failing) throw new Error("EIO");
      return { free: state.free, total: 100 * 1024 * MIB };
    },
  });
  return { state, assertDiskSpace };
}

describe("the guard of the free space", () => {
  it("throws below the limit, and no longer when there is space again", async () => {
    const { state, assertDiskSpace } = disk(10 * MIB, 10 * MIB);
    await assertDiskSpace();
    state.free -= 1;
    state.now += 1_000;
    await expect(assertDiskSpace()).rejects.toMatchObject({
      code: "storage_full",
      status: 507,
      message: expect.stringContaining("less than 10 MiB free"),
    });
    state.free += 1;
    state.now += 1_000;
    await assertDiskSpace();
  });

  it("measures once a second, also for concurrent callers", async () => {
    const { state, assertDiskSpace } = disk(MIB, 2 * MIB);
    const all = await Promise.allSettled(Array.from({ length: 100 }, () => assertDiskSpace()));
    expect(all.every(({ status }) => status === "rejected")).toBe(true);
    state.now += 999;
    await expect(assertDiskSpace()).rejects.toThrow("limits.free_disk");
    expect(state.reads).toBe(1);
    state.now += 1;
    await expect(assertDiskSpace()).rejects.toThrow("limits.free_disk");
    expect(state.reads).toBe(2);
  });

  it("has the same message for every amount, so that logs show an outage once", async () => {
    const { state, assertDiskSpace } = disk(MIB, 2 * MIB);
    const message = async () => assertDiskSpace().catch((error: Error) => error.message);
    const first = await message();
    state.free /= 2;
    state.now += 1_000;
    expect(await message()).toBe(first);
  });

  it("refuses nothing when the space can't be measured, or there is no limit", async () => {
    const { state, assertDiskSpace } = disk(0, MIB);
    state.failing = true;
    await expect(assertDiskSpace()).resolves.toBeUndefined();
    await expect(disk(0, 0).assertDiskSpace()).resolves.toBeUndefined();
  });

  it("keeps 5 % of a small volume free by default, and 512 MiB of a large one", async () => {
    expect(minFreeBytes(undefined, 1_000 * MIB)).toBe(50 * MIB);
    expect(minFreeBytes(undefined, 1e15)).toBe(512 * MIB);
    expect(minFreeBytes(7, 1e15)).toBe(7);
    const { free, total } = await readDiskSpace("/");
    expect(free).toBeGreaterThan(0);
    expect(total).toBeGreaterThanOrEqual(free);
  });
});
