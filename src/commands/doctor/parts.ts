/** What doctor does in children of its own, so that it can end whatever hangs. */
import type { ChildProcess } from "node:child_process";
import { on, once } from "node:events";
import { AppError } from "../../core/errors.ts";
import { contendForLock, type LockContender, checkLocks } from "./locks.ts";
import { plural } from "../plural.ts";
import { type CheckContext, checkIntegrity, checkState } from "./state.ts";
import { STATE, type CheckResult, checkResultsOf } from "./check-result.ts";

export interface PartHost {
  /** Starts this program again with other arguments, with a channel to it. */
  spawn(args: readonly string[]): ChildProcess;
  /** Tells who started this process. */
  send(message: object): void;
  /** Of the user that this process runs as; undefined where there are none. */
  uid: number | undefined;
}

const PARTS = ["state", "integrity", "integrity-full", "locks", "rival"] as const;
export type Part = (typeof PARTS)[number];

const { warning, error: fault } = checkResultsOf(STATE);

/** Runs in the child. @param path the state directory; of the rival, the scratch file */
export async function runDoctorPart(
  host: PartHost,
  part: Part,
  path: string,
  around: CheckContext,
): Promise<void> {
  const tell = (verdict: CheckResult | undefined): void => {
    if (verdict !== undefined) host.send(verdict);
  };
  try {
    switch (part) {
      case "state":
        return await checkState(path, host.uid, tell, around);
      case "integrity":
      case "integrity-full":
        return tell(await checkIntegrity(path, part === "integrity-full"));
      case "locks":
        return tell(
          await checkLocks(path, (file) =>
            messages<Partial<LockContender>>(host.spawn(partArgs("rival", file))),
          ),
        );
      case "rival":
        return await contendForLock(path, host.send);
    }
  } catch (error) {
    // What part `state` tells of the same failure is enough.
    if (error instanceof AppError) return undefined;
    if (part === "rival") throw error;
    const message = error instanceof Error ? error.message : String(error);
    return tell(fault(part, message, "Look at the disk and who may use it, then run doctor again."));
  }
}

const partArgs = (part: Part, path: string, around?: CheckContext): string[] => [
  "doctor-part",
  part,
  path,
  ...(around === undefined ? [] : ["--auth-mode", around.authMode]),
  ...(around?.unavailable ? ["--unavailable"] : []),
];

/** What a child tells, until it ends. */
async function* messages<T>(child: ChildProcess): AsyncIterable<T> {
  const over = new AbortController();
  child.once("close", () => over.abort());
  child.once("error", () => over.abort());
  try {
    for await (const [message] of on(child, "message", { signal: over.signal })) yield message as T;
  } catch (error) {
    if (!over.signal.aborted) throw error;
  }
}

/** What to say where a part was ended because it took too long. */
const LATE: Readonly<Record<Exclude<Part, "rival">, (limit: string) => CheckResult>> = {
  state: (limit) =>
    fault(
      "state",
      `no answer within ${limit}: the file system hangs, or the database is held by another process`,
      "See that the volume is mounted and its server answers; then look for what holds the database.",
    ),
  locks: (limit) =>
    fault(
      "locks",
      `no answer within ${limit}: locks of this file system hang`,
      "See that the volume's server answers and its lock service runs, or move the state to a local disk.",
    ),
  integrity: (limit) =>
    warning(
      "integrity",
      `not looked through within ${limit}: the database is large or the disk is slow`,
      "Run doctor --full, which takes its time; best on a copy that millrace backup made.",
    ),
  "integrity-full": (limit) =>
    warning("integrity", `not looked through within ${limit}`, "Run it on a copy that millrace backup made."),
};

/** Runs a part in a child and gives its verdicts, and one of ours where it had to be ended. */
export async function runInChild(
  host: Pick<PartHost, "spawn">,
  part: Exclude<Part, "rival">,
  path: string,
  limitMs: number,
  around?: CheckContext,
): Promise<CheckResult[]> {
  const child = host.spawn(partArgs(part, path, around));
  const verdicts: CheckResult[] = [];
  let late = false;
  child.on("message", (verdict: CheckResult) => void verdicts.push(verdict));
  const timer = setTimeout(() => {
    late = true;
    child.kill("SIGKILL");
  }, limitMs);
  const [code] = (await once(child, "close").catch(() => [null])) as [number | null];
  clearTimeout(timer);
  if (late) return [...verdicts, LATE[part](plural(limitMs / 1_000, "second"))];
  if (code === 0) return verdicts;
  return [
    ...verdicts,
    fault(part, "looking at it ended in a crash", "Run doctor again, and report it if it stays so."),
  ];
}
