import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openWhenUsable, runService, stopSignal } from "../../src/commands/service.ts";
import type { AppError } from "../../src/core/errors.ts";
import { translateSqliteError } from "../../src/store/sqlite-errors.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sqliteError = (code: string) =>
  translateSqliteError(Object.assign(new Error(code), { code })) as AppError;

function start(open: () => Promise<string>) {
  let text = "";
  const log = pino({ level: "info" }, { write: (line: string) => void (text += line) });
  const stops: (() => void)[] = [];
  const closed: string[] = [];
  const exitWhenDone = vi.fn<() => void>();
  const signal = stopSignal({ onStop: (listener) => void stops.push(listener) });
  const opened: string[] = [];
  const pauses: number[] = [];
  const delay = async (ms: number): Promise<void> => {
    pauses.push(ms);
    await setImmediate();
  };
  const ended = runService({ exitWhenDone }, log, async () => {
    const options = { signal, log, close: async (one: string) => void closed.push(one), delay };
    opened.push(await openWhenUsable(open, options));
  });
  const messages = () =>
    text
      .split("\n")
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
  return { ended, stop: () => stops[0]!(), opened, closed, pauses, messages, text: () => text, exitWhenDone };
}

describe("the start of a process", () => {
  it.each(["SQLITE_BUSY", "SQLITE_BUSY_RECOVERY", "SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"])(
    "waits while the state answers %s, and logs it once",
    async (code) => {
      let attempts = 0;
      const started = start(async () => {
        attempts += 1;
        if (attempts < 5) throw sqliteError(code);
        return "state";
      });
      await started.ended;
      expect([attempts, started.opened]).toEqual([5, ["state"]]);
      expect(started.pauses).toEqual([1_000, 1_000, 1_000, 1_000]);
      expect(started.messages()).toEqual(["state not usable yet, trying again", "state usable again"]);
      expect(started.text()).toContain(sqliteError(code).message);
    },
  );

  it.each(["SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_READONLY"])("ends when it answers %s", async (code) => {
    const started = start(async () => {
      throw sqliteError(code);
    });
    await expect(started.ended).rejects.toThrow(sqliteError(code).message);
  });

  it("waits too when what was done before could not be undone", async () => {
    let attempts = 0;
    const started = start(async () => {
      await using undo = new AsyncDisposableStack();
      undo.defer(() => Promise.reject(new Error("not undone")));
      attempts += 1;
      if (attempts === 1) throw sqliteError("SQLITE_BUSY");
      undo.move();
      return "state";
    });
    await started.ended;
    expect(started.opened).toEqual(["state"]);
  });

  it("ends without an error when it is stopped between two attempts", async () => {
    const started = start(async () => {
      throw sqliteError("SQLITE_FULL");
    });
    await vi.advanceTimersByTimeAsync(0);
    started.stop();
    await started.ended;
    expect(started.opened).toEqual([]);
    expect(started.messages().at(-1)).toBe("stopped before it was ready");
  });

  it("does not wait for an attempt when it is stopped, and closes what that opens later", async () => {
    const opening = Promise.withResolvers<string>();
    const started = start(() => opening.promise);
    started.stop();
    await started.ended;
    expect(started.exitWhenDone).toHaveBeenCalledOnce();
    opening.resolve("late");
    await vi.advanceTimersByTimeAsync(0);
    expect([started.opened, started.closed]).toEqual([[], ["late"]]);
  });
});
