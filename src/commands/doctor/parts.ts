/** The checks that doctor runs in child processes, which it can kill if a file system hangs. */
import type { ChildProcess } from "node:child_process";
import { on, once } from "node:events";
import { AppError } from "../../core/errors.ts";
import { checkAuditLog } from "./audit.ts";
import { contendForLock, type LockContender, checkLocks } from "./locks.ts";
import { plural } from "../plural.ts";
import { type CheckContext, checkIntegrity, checkState, checkStoredBytes } from "./state.ts";
import { STATE, type CheckResult, checkResultsOf } from "./check-result.ts";

export interface PartHost {
  /** Starts this program again with other arguments and an IPC channel to it. */
  spawn(args: readonly string[]): ChildProcess;
  /** Sends a message to the parent process. */
  send(message: object): void;
  /** The user id of this process; undefined on a system without user ids. */
  uid: number | undefined;
}

const PARTS = [
  "state",
  "integrity",
  "integrity-full",
  "audit",
  "audit-full",
  "locks",
  "lock-contender",
] as const;
export type Part = (typeof PARTS)[number];

const { warning, error: failed } = checkResultsOf(STATE);

/** Runs a part in the child. @param path the state directory; for the lock contender, the temporary file */
export async function runDoctorPart(
  host: PartHost,
  part: Part,
  path: string,
  context: CheckContext,
): Promise<void> {
  const send = (result: CheckResult | undefined): void => {
    if (result !== undefined) host.send(result);
  };
  try {
    switch (part) {
      case "state":
        return await checkState(path, host.uid, send, context);
      case "integrity":
      case "integrity-full":
        send(await checkIntegrity(path, part === "integrity-full"));
        return part === "integrity-full" ? send(await checkStoredBytes(path)) : undefined;
      case "audit":
      case "audit-full":
        return send(await checkAuditLog(path, part === "audit-full"));
      case "locks":
        return send(
          await checkLocks(path, (file) =>
            messages<Partial<LockContender>>(host.spawn(partArgs("lock-contender", file))),
          ),
        );
      case "lock-contender":
        return await contendForLock(path, host.send);
    }
  } catch (error) {
    // The part `state` reports the same error.
    if (error instanceof AppError) return undefined;
    if (part === "lock-contender") throw error;
    const message = error instanceof Error ? error.message : String(error);
    return send(failed(part, message, "Check the disk and its permissions, then run doctor again."));
  }
}

const partArgs = (part: Part, path: string, context?: CheckContext): string[] => [
  "doctor-part",
  part,
  path,
  ...(context === undefined ? [] : ["--auth-mode", context.authMode]),
  ...(context?.freeDisk === undefined ? [] : ["--free-disk", String(context.freeDisk)]),
  ...(context?.limits === undefined ? [] : ["--limits", JSON.stringify(context.limits)]),
  ...(context?.unfitSecrets === undefined ? [] : ["--unfit-secrets", JSON.stringify(context.unfitSecrets)]),
  ...(context?.unavailable ? ["--unavailable"] : []),
];

/** Yields the messages of a child until it ends. */
async function* messages<T>(child: ChildProcess): AsyncIterable<T> {
  const ended = new AbortController();
  child.once("close", () => ended.abort());
  child.once("error", () => ended.abort());
  try {
    for await (const [message] of on(child, "message", { signal: ended.signal })) yield message as T;
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
}

/** The result of a part that was killed at its time limit. */
const TIMED_OUT: Readonly<Record<Exclude<Part, "lock-contender">, (limit: string) => CheckResult>> = {
  state: (limit) =>
    failed(
      "state",
      `no answer within ${limit}: the file system hangs, or another process holds the database`,
      "Make sure that the volume is mounted and its server answers. Then look for the process that holds the database.",
    ),
  locks: (limit) =>
    failed(
      "locks",
      `no answer within ${limit}: file locks hang`,
      "Make sure that the server of the volume answers and that its lock service runs, or move the state to a local disk.",
    ),
  integrity: (limit) =>
    warning(
      "integrity",
      `not finished within ${limit}: the database is large or the disk is slow`,
      "Run doctor --full, which takes longer, preferably on a copy made with millrace backup.",
    ),
  "integrity-full": (limit) =>
    warning("integrity", `not finished within ${limit}`, "Run it on a copy made with millrace backup."),
  audit: (limit) =>
    warning(
      "audit log",
      `not verified within ${limit}: the disk is slow`,
      "Run doctor --full, which takes longer.",
    ),
  "audit-full": (limit) =>
    warning("audit log", `not verified within ${limit}`, "Run it on a copy made with millrace backup."),
};

/** Runs a part in a child process. @returns its results, and a further one if the child crashed or took longer than `limitMs` */
export async function runInChild(
  host: Pick<PartHost, "spawn">,
  part: Exclude<Part, "lock-contender">,
  path: string,
  limitMs: number,
  context?: CheckContext,
): Promise<CheckResult[]> {
  const child = host.spawn(partArgs(part, path, context));
  const results: CheckResult[] = [];
  let timedOut = false;
  child.on("message", (result: CheckResult) => void results.push(result));
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill("SIGKILL");
  }, limitMs);
  const [code] = (await once(child, "close").catch(() => [null])) as [number | null];
  clearTimeout(timer);
  if (timedOut) return [...results, TIMED_OUT[part](plural(limitMs / 1_000, "second"))];
  if (code === 0) return results;
  return [
    ...results,
    failed(part, "the check crashed", "Run doctor again. If it crashes again, report it as a bug."),
  ];
}
