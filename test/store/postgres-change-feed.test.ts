import { EventEmitter } from "node:events";
import type { Client } from "pg";
import { afterEach, expect, it, vi } from "vitest";
import { postgresChangeFeed } from "../../src/store/postgres/change-feed.ts";
import { noWork } from "../../src/store/store.ts";

/** Longer than the poll interval. */
const POLLED_MS = 600;

/** A feed on a connection whose notifications the test sends, on timers that it advances. */
async function manualFeed(duringListen: (emit: (payload: string) => void, id: string) => void) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
  let id = "";
  const connection = new EventEmitter();
  const emit = (payload: string): void => void connection.emit("notification", { payload });
  const client = Object.assign(connection, {
    connect: async () => {},
    query: async () => duringListen(emit, id),
    end: async () => {},
  });
  const onHeard = vi.fn<() => void>();
  const feed = postgresChangeFeed({
    connect: () => client as unknown as Client,
    async execute(statement) {
      id = /'([^']+)'\)$/.exec(statement)![1]!;
    },
    onHeard,
  });
  // Its first announcement shows the id of the feed.
  feed.committed(noWork());
  const listener = vi.fn<() => void>();
  feed.subscribe(listener);
  await vi.advanceTimersByTimeAsync(POLLED_MS);
  listener.mockClear();
  return { feed, listener, onHeard, emit, id };
}

afterEach(() => void vi.useRealTimers());

it("polls on after notifications that a pooler of transactions delivered with the answer to listen", async () => {
  const { listener, onHeard } = await manualFeed((emit, id) => {
    emit("of another process");
    emit(id);
  });
  await vi.advanceTimersByTimeAsync(POLLED_MS);
  expect(listener).toHaveBeenCalledTimes(1);
  expect(onHeard).not.toHaveBeenCalled();
});

it("polls no more once its own notification has arrived, and calls subscribers for those of others", async () => {
  const { listener, onHeard, emit, id } = await manualFeed(() => {});
  emit("of another process");
  expect(onHeard).not.toHaveBeenCalled();
  emit(id);
  expect(onHeard).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(POLLED_MS);
  expect(listener).toHaveBeenCalledTimes(1);
  emit("of another process");
  await vi.advanceTimersByTimeAsync(POLLED_MS);
  expect(listener).toHaveBeenCalledTimes(2);
});

it("calls those who look for jobs at once after commits that left some, and a little later after others", async () => {
  const { feed, emit, id } = await manualFeed(() => {});
  emit(id);
  const [jobs, deliveries] = [vi.fn<() => void>(), vi.fn<() => void>()];
  feed.subscribe(jobs, { work: "jobs" });
  feed.subscribe(deliveries, { work: "deliveries" });
  const calls = async (ms: number): Promise<number[]> => {
    await vi.advanceTimersByTimeAsync(ms);
    return [jobs.mock.calls.length, deliveries.mock.calls.length];
  };
  feed.committed(noWork());
  expect(await calls(POLLED_MS)).toEqual([1, 1]);
  feed.committed({ jobs: 2, deliveries: 0 });
  expect(await calls(0)).toEqual([2, 2]);
  feed.committed({ jobs: 1, deliveries: 0 });
  expect(await calls(50)).toEqual([3, 2]);
  expect(await calls(50)).toEqual([3, 3]);
  // The pause of those who look for jobs is over.
  emit("of another process");
  expect(await calls(20)).toEqual([4, 3]);
  emit("of another process");
  // They are called earlier than they were going to be.
  emit("of another process jobs");
  expect(await calls(10)).toEqual([5, 3]);
  emit("of another process deliveries");
  expect(await calls(10)).toEqual([5, 4]);
});
