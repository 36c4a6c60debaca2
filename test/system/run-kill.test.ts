import { execFileSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, statfsSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";
import { testSeed } from "../support/random.ts";
import { runChaos } from "../support/run-chaos.ts";

const ROUNDS = Number(process.env["MILLRACE_TEST_ROUNDS"] ?? 60);

/** A separate file system that can be filled. Needs root. */
function mountOwn(): string {
  const path = mkdtempSync(join(tmpdir(), "millrace-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=96m,mode=700", "tmpfs", path]);
  onTestFinished(() => {
    execFileSync("umount", ["--lazy", path]);
    rmSync(path, { recursive: true });
  });
  return path;
}

function fill(path: string): () => void {
  const file = join(path, "filler");
  const { bavail, bsize } = statfsSync(path);
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize));
  } catch (error) {
    // Another process used some of it in between, which is as good as full.
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
  return () => unlinkSync(file);
}

/** An adjustable wall clock that all processes read; their monotonic clock is not affected. */
function turnableClock() {
  const file = join(temporaryDirectory(), "offset");
  const turn = (seconds: number): void => {
    // Renamed, because a partial write must not be read.
    writeFileSync(`${file}.new`, `${seconds < 0 ? "-" : "+"}${Math.abs(seconds).toFixed(1)}`);
    renameSync(`${file}.new`, file);
  };
  turn(0);
  const [library] = execFileSync("sh", ["-c", "ls /usr/lib/*/faketime/libfaketimeMT.so.1"], {
    encoding: "utf8",
  })
    .trim()
    .split("\n");
  const env = {
    LD_PRELOAD: library!,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  return { turn, env };
}

describe("kill -9, stopped processes, a jumping clock and a full disk during runs", () => {
  it("lose no run, end each once, repeat no recorded step, and fire schedules once", async () => {
    const seed = testSeed("runs");
    const stateDir = mountOwn();
    const { turn, env } = turnableClock();
    const counts = { jumps: 0, full: 0 };
    const { issues, happened, seen, runs, calls, logs } = await runChaos(
      {
        seed,
        stateDir,
        executors: 3,
        leaseMs: 700,
        env,
        extraDisruptions: [
          async (next) => {
            turn((next() - 0.5) * 180);
            counts.jumps += 1;
          },
          async (next) => {
            const makeRoom = fill(stateDir);
            await delay(200 + next() * 1_500);
            makeRoom();
            counts.full += 1;
          },
        ],
        // Every wait and schedule is due by then.
        afterLastRound: async () => turn(600),
      },
      ROUNDS,
    );
    console.log(`runs: ${runs} taken in, ${calls} calls;`, { ...happened, ...seen, ...counts });
    expect(issues).toEqual([]);
    // Only errors about the disk are allowed, and reports of the clocks: while one is set, some processes have compared theirs
    // with the new time, and some have not.
    const expected = /disk|full|storage_unavailable|not recorded|clock of this process differs/i;
    expect(logs.filter((line) => !expected.test(line))).toEqual([]);
    expect(Object.values(happened).reduce((sum, count) => sum + count, 0)).toBe(ROUNDS);
    expect(runs).toBeGreaterThan(ROUNDS);
  }, 1_500_000);
});
