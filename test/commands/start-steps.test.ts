/** Each step of a start can fail, and the process can be stopped after each: nothing may be left behind. */
import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import Database from "better-sqlite3";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Io } from "../../src/commands/io.ts";
import { mcpSse, serve } from "../../src/commands/listeners.ts";
import { worker } from "../../src/commands/worker.ts";
import { eventually, untilPassing } from "../support/eventually.ts";
import { newStateDirectory } from "../support/directories.ts";
import { holdLock } from "../support/lock.ts";

afterEach(() => void vi.restoreAllMocks());

/** An executor that does nothing until it is stopped. */
class FakeExecutor extends EventEmitter {
  readonly pid = 1;
  readonly connected = false;
  isRunning = true;
  kill(): boolean {
    this.isRunning = false;
    setImmediate(() => this.emit("exit", 0, null));
    return true;
  }
}

type Name = "serve" | "mcp-sse" | "worker";

/** Runs a process in this one, on a state directory of its own. */
async function open(name: Name, { terminal = false } = {}) {
  const stateDir = await newStateDirectory();
  const executors: FakeExecutor[] = [];
  const stops: (() => void)[] = [];
  let [log, out] = ["", ""];
  let port: number | undefined;
  const io: Io = {
    out: (text) => void (out += text),
    err: () => {},
    log: { write: (line) => void (log += line) },
    terminal,
    errTerminal: false,
    env: { MILLRACE_STATE_DIR: stateDir, MILLRACE_METRICS_PORT: "0" },
    onExit: () => {},
  };
  const isReady = Promise.withResolvers<void>();
  const host = {
    onStop: (stop: () => void) => void stops.push(stop),
    onMessage: () => {},
    send: () => isReady.resolve(),
    ready(listening: { port: number }) {
      ({ port } = listening);
      isReady.resolve();
    },
    spawn() {
      const executor = new FakeExecutor();
      executors.push(executor);
      return executor as unknown as ChildProcess;
    },
  };
  const at = { host: "127.0.0.1", port: 0, drainDelay: 0, workers: 1 };
  return {
    stateDir,
    run(): Promise<void> {
      if (name === "worker") return worker(io, host, { slots: 1 });
      return name === "serve" ? serve(io, host, at) : mcpSse(io, host, at);
    },
    stop: () => stops.forEach((stop) => stop()),
    ready: isReady.promise,
    port: () => port,
    log: () => log,
    out: () => out,
    host,
    /** What is still open of the process. */
    leftovers: () => [
      ...executors.filter(({ isRunning }) => isRunning).map(() => "executor"),
      ...openFiles(stateDir),
      ...process.getActiveResourcesInfo().filter((resource) => resource === "TCPServerWrap"),
    ],
  };
}

/** The files of a directory that this process has open. */
function openFiles(directory: string): string[] {
  const targets = readdirSync("/proc/self/fd").map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return "";
    }
  });
  return targets.filter((target) => target.startsWith(directory));
}

/** Calls `act` when the step with this number of a start has taken its place on the stack of what is undone. */
function afterStep(number: number, act: () => void): () => boolean {
  let steps = 0;
  const defer = AsyncDisposableStack.prototype.defer;
  vi.spyOn(AsyncDisposableStack.prototype, "defer").mockImplementation(function (
    this: AsyncDisposableStack,
    undo,
  ) {
    defer.call(this, undo);
    steps += 1;
    if (steps === number) act();
  });
  return () => steps >= number;
}

/** A closed server is reported for one turn of the event loop more. */
const nothingLeft = (tested: { leftovers(): string[] }): Promise<void> =>
  untilPassing(() => expect(tested.leftovers()).toEqual([]));

/** Tries one step after the other until a start has no more of them. @returns how many there are */
async function forEachStep(attempt: (number: number) => Promise<boolean>): Promise<number> {
  for (let number = 1; ; number += 1) {
    const wasReached = await attempt(number);
    vi.restoreAllMocks();
    if (!wasReached) return number - 1;
  }
}

/** Fewest steps that a start has: fewer mean that the test does not see them. */
const STEPS: Readonly<Record<Name, number>> = { serve: 13, "mcp-sse": 12, worker: 10 };

describe.each(["serve", "mcp-sse", "worker"] as const)("%s", (name) => {
  it("undoes everything when any step of its start fails", async () => {
    const steps = await forEachStep(async (number) => {
      const tested = await open(name);
      const wasReached = afterStep(number, () => {
        throw new Error(`step ${number} fails`);
      });
      const end = tested.run();
      const outcome = await Promise.race([end.catch((error: Error) => error.message), tested.ready]);
      if (!wasReached()) {
        tested.stop();
        await end;
        return false;
      }
      expect(outcome).toBe(`step ${number} fails`);
      await nothingLeft(tested);
      return true;
    });
    expect(steps).toBeGreaterThanOrEqual(STEPS[name]);
  });

  it("ends in order when it is stopped after any step of its start", async () => {
    const steps = await forEachStep(async (number) => {
      const tested = await open(name);
      const wasReached = afterStep(number, tested.stop);
      const end = tested.run();
      await Promise.race([end, tested.ready]);
      if (!wasReached()) tested.stop();
      await end;
      // What is being opened is not waited for: the process ends without it.
      await nothingLeft(tested);
      return wasReached();
    });
    expect(steps).toBeGreaterThanOrEqual(STEPS[name]);
  });
});

describe("serve", () => {
  it("closes its port when what follows fails", async () => {
    const tested = await open("serve");
    tested.host.ready = ({ port }) => {
      throw new Error(`listening on ${port}`);
    };
    const { message } = await tested.run().then(
      () => new Error("none"),
      (error: Error) => error,
    );
    const port = Number(/\d+$/.exec(message)?.[0]);
    const refused = await new Promise<string | undefined>((resolve) => {
      connect(port, "127.0.0.1")
        .once("error", (error: NodeJS.ErrnoException) => resolve(error.code))
        .once("connect", () => resolve("connected"));
    });
    expect(refused).toBe("ECONNREFUSED");
    await nothingLeft(tested);
  });

  it("undoes its start when the setup link can't be written", async () => {
    const tested = await open("serve", { terminal: true });
    const db = new Database(`${tested.stateDir}/millrace.db`);
    db.exec(
      "create trigger t before insert on account_links begin select raise(abort, 'no links today'); end",
    );
    db.close();
    await expect(tested.run()).rejects.toThrow("no links today");
    await nothingLeft(tested);
  });
});

describe("worker", () => {
  it("waits while another process holds the lock at its start, and says so", async () => {
    const tested = await open("worker");
    const release = holdLock(tested.stateDir);
    const end = tested.run();
    const line = await eventually(
      () => /.*state not usable yet.*/.exec(tested.log())?.[0],
      "a line of the log",
    );
    expect(JSON.parse(line)).toMatchObject({ reason: expect.stringMatching(/holds the database lock/) });
    release();
    await tested.ready;
    tested.stop();
    await end;
    await nothingLeft(tested);
  });
});
