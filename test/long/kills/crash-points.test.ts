import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { SqliteStore } from "../../../src/store/database.ts";
import { openInstanceInJournalMode, WRITE_STEPS, applyStep } from "../../support/crash-writer.ts";
import { verifyState } from "../../support/verify-state.ts";

const WRITER = fileURLToPath(new URL("../../support/crash-writer.ts", import.meta.url));
/** System calls that change the files, or sync the changes; strace counts each separately. */
const SYSCALLS = ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "openat"] as const;
const AT_ONCE = 3;
const SUFFIXES = ["", "-wal", "-journal", "-shm"];

/** The writes of each step when it was acknowledged: the workflow and its history. */
const WRITTEN: readonly (readonly [id: string, history: readonly string[]])[] = [
  ["alpha", ["first"]],
  ["alpha", ["first", "second"]],
  ["beta", ["first"]],
  ["alpha", ["first", "second", "third"]],
];

/** Runs the writer and kills it at the nth `syscall` on the database's files. */
async function crash(stateDir: string, local: boolean, syscall: string, n: number) {
  const args = [
    "-f",
    "-qq",
    "-o",
    "/dev/null",
    "-e",
    `trace=${syscall}`,
    "-e",
    `inject=${syscall}:signal=KILL:when=${n}`,
    ...SUFFIXES.flatMap((suffix) => ["-P", join(stateDir, `millrace.db${suffix}`)]),
    "-P",
    stateDir,
    process.execPath,
    WRITER,
    stateDir,
    local ? "local" : "network",
  ];
  type End = { error: Error | null; stdout: string; stderr: string };
  const { error, stdout, stderr } = await new Promise<End>((resolve) => {
    execFile("strace", args, (failure, out, err) => resolve({ error: failure, stdout: out, stderr: err }));
  });
  const { signal, code } = (error ?? {}) as { signal?: string; code?: number | string };
  const killed = signal === "SIGKILL" || code === 137;
  if (error !== null && !killed) throw new Error(`The writer failed by itself: ${stderr}`, { cause: error });
  return { killed, acknowledged: stdout.split("\n").filter(Boolean).length };
}

async function checkAfter(stateDir: string, local: boolean, acknowledged: number): Promise<void> {
  const instance = await openInstanceInJournalMode(stateDir, local);
  try {
    expect((instance.store as SqliteStore).journalMode).toBe(local ? "wal" : "delete");
    const before = new Map(verifyState(stateDir).map(({ id, history }) => [id, history]));
    for (const [id, history] of WRITTEN.slice(0, acknowledged))
      expect(before.get(id)?.slice(0, history.length)).toEqual(history);
    // Only started steps are present: at most the one after the last acknowledged step.
    const total = [...before.values()].reduce((sum, history) => sum + history.length, 0);
    expect(total - acknowledged).toBeLessThanOrEqual(1);

    for (const index of WRITE_STEPS.keys()) await applyStep(instance, index);
    const after = Object.fromEntries(verifyState(stateDir).map(({ id, history }) => [id, history]));
    expect(after).toEqual({ alpha: ["first", "second", "third"], beta: ["first"] });
  } finally {
    await instance.close();
  }
}

async function round(local: boolean, syscall: string, n: number) {
  const parent = mkdtempSync(join(tmpdir(), "millrace-crash-"));
  // It must not exist yet: for an existing directory strace traces nothing inside.
  const stateDir = join(parent, "state");
  try {
    const end = await crash(stateDir, local, syscall, n);
    await checkAfter(stateDir, local, end.acknowledged).catch((error: unknown) => {
      throw new Error(`after a kill at ${syscall} number ${n}`, { cause: error });
    });
    return end;
  } finally {
    rmSync(parent, { recursive: true });
  }
}

describe("kill -9 at every change of the database's files", () => {
  it.each([
    ["write-ahead log", true],
    ["rollback journal", false],
  ])(
    "loses nothing acknowledged and leaves nothing half-written (%s)",
    { timeout: 900_000 },
    async (mode, local) => {
      const points: Record<string, number> = {};
      const seen = new Set<number>();
      const unharmed = new Set<number>();
      for (const syscall of SYSCALLS) {
        points[syscall] = 0;
        for (let n = 1, more = true; more; n += AT_ONCE) {
          const rounds = Array.from({ length: AT_ONCE }, (_, i) => round(local, syscall, n + i));
          for (const { killed, acknowledged } of await Promise.all(rounds)) {
            if (killed) {
              points[syscall] += 1;
              seen.add(acknowledged);
            } else {
              unharmed.add(acknowledged);
              more = false;
            }
          }
        }
      }
      console.log(`${mode}: killed at`, points);
      expect(unharmed).toEqual(new Set([WRITE_STEPS.length]));
      // Before the first step and between any two; after the last one only a checkpoint remains.
      expect(seen).toEqual(new Set(local ? [0, 1, 2, 3, 4] : [0, 1, 2, 3]));
    },
  );
});
