import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { repeat } from "../../src/app/repeat.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("repeat calls after firstMs, then at each interval, but not while a call runs", async () => {
  const turns: PromiseWithResolvers<void>[] = [];
  const work = (): Promise<void> => {
    turns.push(Promise.withResolvers<void>());
    return turns.at(-1)!.promise;
  };
  const errors: unknown[] = [];
  const end = repeat({ ms: 100, firstMs: 20, work, onError: (error) => errors.push(error) });
  await vi.advanceTimersByTimeAsync(19);
  expect(turns).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(turns).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(250);
  expect(turns).toHaveLength(1);
  turns[0]!.reject(new Error("no"));
  await vi.advanceTimersByTimeAsync(49);
  expect([turns.length, errors]).toEqual([1, [new Error("no")]]);
  await vi.advanceTimersByTimeAsync(1);
  turns[1]!.resolve();
  await vi.advanceTimersByTimeAsync(100);
  expect(turns).toHaveLength(3);
  turns[2]!.resolve();
  end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(turns).toHaveLength(3);
});
