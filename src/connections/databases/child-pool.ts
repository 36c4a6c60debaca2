/**
 * A pool of child processes that run queries on embedded databases, one statement at a time each. A child is killed as soon
 * as no caller waits for its answer, and ended after it was idle for some time.
 */
import { type ChildProcess, fork } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pid as parent } from "node:process";
import { fileURLToPath } from "node:url";
import type { CallContext } from "../../core/connections.ts";
import { lowerProcessPriority } from "../../core/background-priority.ts";
import { StepError } from "../../core/step-errors.ts";
import type { ChildReply, ChildRequest, ChildSpec } from "./child-protocol.ts";
import { createFairPool } from "../fair-pool.ts";
import { abortError } from "./driver.ts";
import { BESIDE } from "./sqlite-wal.ts";

export interface ChildPoolOptions {
  /** Maximum number of child processes. */
  size: number;
  idleTimeoutMs: number;
  /** Memory limit of the database engine, in MiB; the child process gets HEADROOM_MB more. */
  memoryMb: number;
  /** Time limit for preparing a query, in milliseconds; the engine may evaluate constants then. */
  prepareTimeoutMs: number;
  /** The program of the child processes; default: the one beside this file. */
  program?: string | undefined;
}

export interface ChildPool {
  /** @throws StepError the error of the database, the reason of the abort, or how the child process ended */
  send(
    spec: Omit<ChildSpec, "memoryMb" | "parent">,
    request: ChildRequest,
    call: CallContext,
  ): Promise<unknown>;
  close(): void;
}

interface Child {
  key: string;
  process: ChildProcess;
  busy: boolean;
  idle?: NodeJS.Timeout;
}

const HEADROOM_MB = 384;
const HEAP_MB = 192;
const WATCH_MS = 50;
/** Ends in `.ts` in a checkout and in `.js` in a release, like this file. */
const PROGRAM = fileURLToPath(new URL(`child${/\.\w+$/.exec(import.meta.url)![0]}`, import.meta.url));

export function createChildPool({
  size,
  idleTimeoutMs,
  memoryMb,
  prepareTimeoutMs,
  program = PROGRAM,
}: ChildPoolOptions): ChildPool {
  const all = new Set<Child>();
  /** Has a place for each process that may be busy. */
  const places = createFairPool(size);
  /** Preparing queries never occupies all child processes. */
  const preparing = createFairPool(Math.max(1, Math.floor(size / 2)));

  function start(key: string, spec: ChildSpec): Child {
    const process = fork(program, [JSON.stringify(spec)], {
      env: {},
      execArgv: [...permissions(program, spec), `--max-old-space-size=${HEAP_MB}`],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      // Detached, so that Ctrl-C reaches only the parent, which ends its children; they also notice its death.
      detached: true,
    });
    // Undefined if it could not be started, which its error event reports.
    if (process.pid !== undefined) lowerProcessPriority(process.pid);
    const child: Child = { key, process, busy: true };
    all.add(child);
    const gone = (): void => {
      clearTimeout(child.idle);
      all.delete(child);
    };
    process.once("exit", gone);
    // The caller also listens for this event.
    process.on("error", gone);
    return child;
  }

  /**
   * Takes an idle child of this database, or starts one, which may replace an idle one of another database. Only for the
   * holder of a place: so a child is idle, or there are fewer than the maximum.
   */
  function take(spec: ChildSpec): Child {
    const key = JSON.stringify(spec);
    const idle = [...all].filter(({ busy }) => !busy);
    const own = idle.find((child) => child.key === key);
    if (own === undefined) {
      const other = all.size >= size ? idle[0] : undefined;
      if (other !== undefined) kill(other);
      return start(key, spec);
    }
    clearTimeout(own.idle);
    own.busy = true;
    own.process.ref();
    own.process.channel?.ref();
    return own;
  }

  function release(child: Child): void {
    child.busy = false;
    if (!all.has(child)) return;
    child.process.unref();
    child.process.channel?.unref();
    child.idle = setTimeout(() => kill(child), idleTimeoutMs).unref();
  }

  function kill(child: Child): void {
    all.delete(child);
    child.process.kill("SIGKILL");
  }

  async function ask(spec: ChildSpec, request: ChildRequest, signal: AbortSignal): Promise<unknown> {
    const child = take(spec);
    const short = request.op === "prepare" ? [AbortSignal.timeout(prepareTimeoutMs)] : [];
    try {
      const until = AbortSignal.any([signal, ...short]);
      return await answered(child.process, request, memoryMb + HEADROOM_MB, until);
    } catch (error) {
      if (!(error instanceof Answered)) kill(child);
      throw error instanceof Answered ? error.error : error;
    } finally {
      release(child);
    }
  }

  return {
    async send(given, request, call) {
      const spec = { ...given, memoryMb, parent };
      const asked = (): Promise<unknown> => places.run(call, () => ask(spec, request, call.signal));
      try {
        return await (request.op === "prepare" ? preparing.run(call, asked) : asked());
      } catch (error) {
        throw call.signal.aborted ? abortError(call.signal) : error;
      }
    },
    close() {
      for (const child of all) kill(child);
    },
  };
}

/** A failure that the child reported; the child process continues. */
class Answered extends Error {
  readonly error: StepError;
  constructor(error: StepError) {
    super(error.message);
    this.error = error;
  }
}

function answered(
  child: ChildProcess,
  request: ChildRequest,
  limitMb: number,
  signal: AbortSignal,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const watch = setInterval(() => {
      void watchMemory();
    }, WATCH_MS);
    const watchMemory = async (): Promise<void> => {
      const used = await residentMb(child);
      if (used > limitMb) end(() => reject(outOfMemory(`it used ${Math.round(used)} MiB`)));
    };
    const onAbort = (): void => end(() => reject(abortError(signal)));
    const onMessage = (reply: ChildReply): void =>
      end(() => {
        if ("value" in reply) return resolve(reply.value);
        const { code, message, fix } = reply.failure;
        return reject(new Answered(new StepError(code, message, { ...(fix !== undefined && { fix }) })));
      });
    const onExit = (code: number | null, by: string | null): void => end(() => reject(died(code, by)));
    const onError = (error: NodeJS.ErrnoException): void => {
      if (error.code === "EPIPE") {
        // The child ended before the query reached it; its exit event gives the reason.
        child.kill("SIGKILL");
        return;
      }
      end(() =>
        reject(
          new StepError("step_failed", `The process of the query cannot be reached: ${error.message}.`, {
            cause: error,
          }),
        ),
      );
    };
    const end = (settle: () => void): void => {
      clearInterval(watch);
      signal.removeEventListener("abort", onAbort);
      child.off("message", onMessage).off("exit", onExit).off("error", onError);
      settle();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    child.on("message", onMessage).on("exit", onExit).on("error", onError);
    if (signal.aborted) onAbort();
    else child.send(request);
  });
}

/** Resident memory in MiB on Linux; 0 on other systems. */
async function residentMb({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024;
}

const outOfMemory = (how: string): StepError =>
  new StepError("memory_limit", `The query was stopped because it needed too much memory (${how}).`, {
    fix: "Filter or aggregate earlier.",
    unanswered: true,
  });

/** V8 aborts when its heap is full, and Linux sends SIGKILL when memory runs out. */
function died(code: number | null, by: string | null): StepError {
  if (by === "SIGABRT" || by === "SIGTRAP" || code === 134) return outOfMemory("its heap was full");
  if (by === "SIGKILL") return outOfMemory("the system killed it");
  return new StepError(
    "step_failed",
    `The process of the query ended unexpectedly (${by ?? `code ${code}`}).`,
    { unanswered: true },
  );
}

/** The files that the program reads besides its own folder in a checkout; a release has everything in one folder. */
const SHARED_FILES = [
  "../../../schemas/long-numbers.ts",
  "../../core/file-access.ts",
  "../../core/json-scan.ts",
  "../../core/lazy.ts",
  "../../core/number-text.ts",
].map((file) => fileURLToPath(new URL(file, import.meta.url)));

/** Node's permission model: no other programs, no writes. It does not restrict DuckDB, which is native code. */
function permissions(program: string, { engine, file, write }: ChildSpec): string[] {
  const common = ["--permission", "--allow-worker"];
  if (engine === "duckdb") return [...common, "--allow-addons", "--allow-fs-read=*"];
  return [
    ...common,
    `--allow-fs-read=${join(dirname(program), "*")}`,
    ...SHARED_FILES.map((shared) => `--allow-fs-read=${shared}`),
    `--allow-fs-read=${file}`,
    ...BESIDE.map((suffix) => `--allow-fs-read=${file}${suffix}`),
    ...(write ? [`--allow-fs-write=${file}`] : []),
  ];
}
