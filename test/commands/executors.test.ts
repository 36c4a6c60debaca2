import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startExecutors } from "../../src/commands/executors.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class FakeChild extends EventEmitter {
  readonly pid = 1;
  connected = true;
  /** As Node does: an error without a callback is an event. */
  send(_message: unknown, callback?: (error: Error | null) => void): boolean {
    const error = new Error("write EPIPE");
    if (callback === undefined) this.emit("error", error);
    else callback(error);
    return false;
  }
}

function open(spawn: () => FakeChild) {
  const lines: { level: number; msg: string }[] = [];
  const log = pino(
    { level: "info" },
    { write: (line: string) => void lines.push(JSON.parse(line) as never) },
  );
  const pool = startExecutors(
    spawn as unknown as () => ChildProcess,
    { count: 1, config: undefined, log },
    async () => {},
  );
  return { pool, errors: () => lines.filter(({ level }) => level >= 50).map(({ msg }) => msg) };
}

describe("the executors of a server", () => {
  it("are started later when the machine has no room for a process", async () => {
    let attempts = 0;
    const { errors } = open(() => {
      attempts += 1;
      if (attempts === 1) throw Object.assign(new Error("spawn ENOMEM"), { code: "ENOMEM" });
      return new FakeChild();
    });
    expect(errors()).toEqual(["executor not started"]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(attempts).toBe(2);
  });

  it("may end before a message reaches them", () => {
    const { pool, errors } = open(() => new FakeChild());
    pool.wake();
    expect(errors()).toEqual([]);
  });
});
