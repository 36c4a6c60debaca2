import { describe, expect, it, vi } from "vitest";
import { checkOnChange } from "../../src/core/change-feed.ts";
import { quietTime, untilPassing } from "../support/eventually.ts";

/** A feed whose changes the test makes. */
function manualChanges() {
  const listeners = new Set<() => void>();
  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    change: () => listeners.forEach((listener) => listener()),
    subscribers: () => listeners.size,
  };
}

describe("a check on changes", () => {
  it("runs one at a time, and once more for all changes that came meanwhile", async () => {
    const changes = manualChanges();
    const ends: (() => void)[] = [];
    checkOnChange(changes, () => new Promise((resolve) => ends.push(resolve)));
    expect(ends).toHaveLength(0);
    for (let count = 0; count < 3; count += 1) changes.change();
    expect(ends).toHaveLength(1);
    ends[0]!();
    await untilPassing(() => expect(ends).toHaveLength(2));
    ends[1]!();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ends).toHaveLength(2);
  });

  it("runs again after a failure without a further change", async () => {
    const changes = manualChanges();
    const failures: unknown[] = [];
    const check = vi.fn<() => Promise<void>>().mockRejectedValueOnce("locked").mockResolvedValue();
    checkOnChange(changes, check, (error) => failures.push(error));
    changes.change();
    await untilPassing(() => expect(check).toHaveBeenCalledTimes(2));
    expect(failures).toEqual(["locked"]);
  });

  it("ends its subscription when it is stopped, and does not repeat a failed run", async () => {
    const changes = manualChanges();
    const check = vi.fn<() => Promise<void>>().mockRejectedValue("locked");
    const { stop } = checkOnChange(changes, check);
    changes.change();
    stop();
    expect(changes.subscribers()).toBe(0);
    await quietTime(200);
    expect(check).toHaveBeenCalledOnce();
  });
});
