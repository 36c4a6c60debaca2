import type { ClientBase } from "pg";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { SECOND } from "../../src/core/clock.ts";
import { connectionWatch } from "../../src/store/postgres/connection-watch.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => void vi.useRealTimers());

function open(probe = vi.fn<() => Promise<unknown>>(async () => {})) {
  const watch = connectionWatch(probe);
  onTestFinished(() => watch.end());
  const connect = () => {
    const stream = {
      destroyed: false,
      destroy: () => void (stream.destroyed = true),
    };
    const client = { connection: { stream } } as unknown as ClientBase;
    watch.add(client);
    return client;
  };
  return { watch, probe, connect };
}

describe("the watch of connections", () => {
  it("asks the server when a statement takes longer than usual, and not for those that are answered", async () => {
    const { watch, probe, connect } = open();
    const client = connect();
    watch.sent(client)();
    await vi.advanceTimersByTimeAsync(10 * SECOND);
    expect(probe).not.toHaveBeenCalled();
    const answered = watch.sent(client);
    await vi.advanceTimersByTimeAsync(2 * SECOND);
    expect(probe).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(probe).toHaveBeenCalledOnce();
    answered();
    await vi.advanceTimersByTimeAsync(10 * SECOND);
    expect(probe).toHaveBeenCalledOnce();
  });

  it("asks once at a time", async () => {
    const pending = Promise.withResolvers<void>();
    const { watch, probe, connect } = open(vi.fn<() => Promise<unknown>>(() => pending.promise));
    watch.sent(connect());
    await vi.advanceTimersByTimeAsync(10 * SECOND);
    expect(probe).toHaveBeenCalledOnce();
    pending.reject(new Error("It does not answer."));
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(probe).toHaveBeenCalledTimes(2);
  });

  it("counts from the oldest statement that is not answered", async () => {
    const { watch, probe, connect } = open();
    const client = connect();
    const [first] = [watch.sent(client), watch.sent(client)];
    await vi.advanceTimersByTimeAsync(1_500);
    // The server works: the second statement runs since then.
    first();
    await vi.advanceTimersByTimeAsync(1_500);
    expect(probe).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(probe).toHaveBeenCalledOnce();
  });

  it("gives up what has been silent since a time, and nothing that has answered since", async () => {
    const { watch, connect } = open();
    const [silent, heard, removed] = [connect(), connect(), connect()];
    await vi.advanceTimersByTimeAsync(SECOND);
    const since = performance.now();
    await vi.advanceTimersByTimeAsync(SECOND);
    watch.sent(heard)();
    const fresh = connect();
    watch.remove(removed);
    await watch.giveUp(since);
    expect([silent, heard, removed, fresh].map((client) => watch.isGivenUp(client))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it("gives up connections every 10 s at most, and none that was heard otherwise", async () => {
    const { watch, connect } = open();
    const listening = connect();
    const first = connect();
    await vi.advanceTimersByTimeAsync(SECOND);
    const since = performance.now();
    await vi.advanceTimersByTimeAsync(SECOND);
    watch.heard(listening);
    await watch.giveUp(since);
    const second = connect();
    await vi.advanceTimersByTimeAsync(5 * SECOND);
    await watch.giveUp(performance.now());
    expect([first, listening, second].map((client) => watch.isGivenUp(client))).toEqual([true, false, false]);
    await vi.advanceTimersByTimeAsync(5 * SECOND);
    await watch.giveUp(performance.now());
    expect(watch.isGivenUp(second)).toBe(true);
  });

  it("keeps a connection whose answer had arrived but was not read yet", async () => {
    const { watch, connect } = open();
    const client = connect();
    await vi.advanceTimersByTimeAsync(SECOND);
    const since = performance.now();
    const answered = watch.sent(client);
    await vi.advanceTimersByTimeAsync(SECOND);
    const givenUp = watch.giveUp(since);
    answered();
    await givenUp;
    expect(watch.isGivenUp(client)).toBe(false);
  });
});
