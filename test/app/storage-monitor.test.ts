import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { storageMonitor } from "../../src/app/storage-monitor.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(check: () => Promise<string | undefined>) {
  const monitor = storageMonitor(check);
  onTestFinished(() => monitor.close());
  return monitor;
}

const hangs = () => new Promise<never>(() => {});

describe("the monitor of the state", () => {
  it("answers with a new check if it ends soon", async () => {
    let issue: string | undefined;
    const { issue: ask } = open(async () => issue);
    expect(await ask()).toBeUndefined();
    issue = "gone";
    expect(await ask()).toBe("gone");
  });

  it("answers within 50 ms with the last result, and reports a check that hangs for three intervals", async () => {
    const { issue: ask } = open(hangs);
    const first = ask();
    await vi.advanceTimersByTimeAsync(50);
    expect(await first).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2_950);
    const later = ask();
    await vi.advanceTimersByTimeAsync(50);
    expect(await later).toBe("The state does not answer in time.");
  });

  it("has one check at a time, and forgets that one hung when it ends", async () => {
    const checks: PromiseWithResolvers<string | undefined>[] = [];
    const { issue: ask } = open(() => {
      const check = Promise.withResolvers<string | undefined>();
      checks.push(check);
      return check.promise;
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(checks).toHaveLength(1);
    checks[0]!.resolve(undefined);
    await vi.advanceTimersByTimeAsync(0);
    const answer = ask();
    checks[1]!.resolve(undefined);
    expect(await answer).toBeUndefined();
  });

  it("reports a check that fails", async () => {
    const { issue: ask } = open(async () => {
      throw new Error("broken");
    });
    expect(await ask()).toBe("broken");
  });
});
