import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { SqliteStore } from "../../src/store/database.ts";
import { bundle } from "../support/bundle.ts";
import { openInstanceInJournalMode, READY, WRITE_STEPS, applyStep } from "../support/crash-writer.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/directories.ts";
import { verifyState } from "../support/verify-state.ts";

const WRITER = fileURLToPath(new URL("../support/crash-writer.ts", import.meta.url));
/** System calls that change the files, or sync the changes; strace counts each separately. */
const SYSCALLS = ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "openat"] as const;
const AT_ONCE = 3;
const WAIT_MS = 60_000;
const SUFFIXES = ["", "-wal", "-journal", "-shm"];

/** The writes of each step when it was acknowledged: the workflow and its history. */
const WRITTEN: readonly (readonly [id: string, history: readonly string[]])[] = [
  ["alpha", ["first"]],
  ["alpha", ["first", "second"]],
  ["beta", ["first"]],
  ["alpha", ["first", "second", "third"]],
];

/** Runs the writer and kills it at the nth `syscall` on the database's files. */
async function crash(writer: string, stateDir: string, local: boolean, syscall: string, n: number) {
  const child = spawn(process.execPath, [writer, stateDir, local ? "local" : "network"]);
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  await eventually(() => (stdout === `${READY}\n` ? true : undefined), "the writer", WAIT_MS);
  const strace = spawn("strace", [
    "-f",
    "-o",
    "/dev/null",
    "-p",
    String(child.pid),
    "-e",
    `trace=${syscall}`,
    "-e",
    `inject=${syscall}:signal=KILL:when=${n}`,
    ...SUFFIXES.flatMap((suffix) => ["-P", join(stateDir, `millrace.db${suffix}`)]),
    "-P",
    stateDir,
  ]);
  let attached = "";
  strace.stderr.setEncoding("utf8").on("data", (chunk: string) => (attached += chunk));
  await eventually(() => (attached.includes("attached") ? true : undefined), "strace to attach", WAIT_MS);
  child.stdin.write("\n");
  const [code, signal] = await ended;
  const killed = signal === "SIGKILL";
  if (code !== 0 && !killed) throw new Error(`The writer failed by itself: ${stderr}`);
  return { killed, acknowledged: stdout.split("\n").filter(Boolean).length - 1 };
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

/** At which writes the writer is killed: at each, or at every so many, from another first one in each run of the test. */
const STRIDE = Number(process.env["MILLRACE_TEST_CRASH_STRIDE"] ?? 1);
const SEED = Number(process.env["MILLRACE_TEST_SEED"] ?? Date.now() % 1_000_000_000);

/** Where the writer begins, and at every how many of its calls it is killed. */
const BEGINNINGS = [
  // Hundreds of writes of one kind, those of the migrations, so not each of them is tried.
  { name: "nothing", exists: false, strideOf: () => 23 },
  // Writes are ten times more frequent than the other calls.
  {
    name: "a migrated state",
    exists: true,
    strideOf: (syscall: string) => (syscall === "pwrite64" ? STRIDE : 1),
  },
] as const;

interface Beginning {
  writer: string;
  local: boolean;
  /** A state directory to copy; without one the writer creates it. */
  template: string | undefined;
}

async function round({ writer, local, template }: Beginning, syscall: string, n: number) {
  const parent = mkdtempSync(join(tmpdir(), "millrace-crash-"));
  const stateDir = join(parent, "state");
  try {
    if (template !== undefined) cpSync(template, stateDir, { recursive: true });
    const end = await crash(writer, stateDir, local, syscall, n);
    await checkAfter(stateDir, local, end.acknowledged).catch((error: unknown) => {
      throw new Error(`after a kill at ${syscall} number ${n}`, { cause: error });
    });
    return end;
  } finally {
    rmSync(parent, { recursive: true });
  }
}

async function migratedState(local: boolean): Promise<string> {
  const stateDir = join(temporaryDirectory(), "state");
  await (await openInstanceInJournalMode(stateDir, local)).close();
  return stateDir;
}

describe("kill -9 at the changes of the database's files", () => {
  it.each([
    ["write-ahead log", true],
    ["rollback journal", false],
  ])(
    "loses nothing acknowledged and leaves nothing half-written (%s)",
    { timeout: 900_000 },
    async (mode, local) => {
      const writer = await bundle(WRITER);
      const migrated = await migratedState(local);
      const seen = new Set<number>();
      const unharmed = new Set<number>();
      for (const { name, exists, strideOf } of BEGINNINGS) {
        const beginning = { writer, local, template: exists ? migrated : undefined };
        const points: Record<string, number> = {};
        for (const syscall of SYSCALLS) {
          points[syscall] = 0;
          const stride = strideOf(syscall);
          for (let n = 1 + (SEED % stride), more = true; more; n += AT_ONCE * stride) {
            const rounds = Array.from({ length: AT_ONCE }, (_, i) =>
              round(beginning, syscall, n + i * stride),
            );
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
        console.log(`seed ${SEED}, ${mode}, from ${name}: killed at`, points);
      }
      expect(unharmed).toEqual(new Set([WRITE_STEPS.length]));
      // Before the first step and between any two; after the last one only a checkpoint remains.
      expect(seen).toEqual(new Set(local ? [0, 1, 2, 3, 4] : [0, 1, 2, 3]));
    },
  );
});
