/** Starts and ends of real processes: stopped at any moment, without a parent, without descriptors, with a full disk. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { testCli } from "../support/command-line.ts";
import { eventually } from "../support/eventually.ts";
import { holdLock } from "../support/lock.ts";
import { childrenOf, runCommand, startProgram } from "../support/process.ts";
import { socketClient } from "../support/sockets.ts";

const LIMIT_MS = 10_000;

async function stateWithKey(stateDir = temporaryDirectory()): Promise<{ stateDir: string; key: string }> {
  const { out } = await runCommand(["keys", "create", "--name", "test"], {
    MILLRACE_STATE_DIR: stateDir,
  });
  return { stateDir, key: out.trim() };
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(statusOf(pid));

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "State: Z";
  }
}

function begin(
  args: readonly string[],
  stateDir: string,
  { wrap = [], stdin = "ignore" }: { wrap?: string[]; stdin?: "ignore" | "pipe" } = {},
) {
  const [file, ...rest] = [...wrap, process.execPath, PROGRAM, ...args] as [string, ...string[]];
  const child = spawn(file, rest, {
    env: { ...process.env, MILLRACE_STATE_DIR: stateDir },
    stdio: [stdin, "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return { child, exited, text: () => text };
}

/** All processes that descend from one. */
const descendants = (child: Pick<ChildProcess, "pid">): number[] => {
  const own = isAlive(child.pid!) ? childrenOf(child as ChildProcess) : [];
  return own.concat(own.flatMap((pid) => descendants({ pid })));
};

const COMMANDS: Readonly<Record<string, { args: string[]; ready: RegExp }>> = {
  serve: { args: ["serve", "--port", "0"], ready: /serve listening/ },
  "mcp-sse": { args: ["mcp-sse", "--port", "0"], ready: /mcp-sse listening/ },
  worker: { args: ["worker"], ready: /worker started/ },
  start: {
    args: ["start", "--port", "0", "--mcp-port", "0"],
    ready: /Press Ctrl-C/,
  },
};

describe("SIGTERM during the start", () => {
  /** Moments of the time until it is ready; the last is after that. */
  const MOMENTS = [0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2];

  it.each(Object.entries(COMMANDS))(
    "leaves nothing of %s behind, at any moment",
    async (_, { args, ready }) => {
      const { stateDir } = await stateWithKey();
      const begun = performance.now();
      const first = begin(args, stateDir);
      await eventually(() => ready.test(first.text()) || undefined, "its start");
      const startMs = performance.now() - begun;
      first.child.kill("SIGTERM");
      expect((await first.exited)[0]).toBe(0);
      for (const moment of MOMENTS) {
        const { child, exited, text } = begin(args, stateDir);
        await delay(startMs * moment);
        const children = descendants(child);
        const start = performance.now();
        child.kill("SIGTERM");
        // Some managers send it again.
        setTimeout(() => child.kill("SIGTERM"), 50);
        const [code, signal] = await exited;
        // Before the program has begun, the signal itself ends it.
        expect({ moment, code, signal, text: text() }).toEqual(
          signal === null
            ? { moment, code: 0, signal: null, text: text() }
            : { moment, code: null, signal: "SIGTERM", text: text() },
        );
        expect(performance.now() - start).toBeLessThan(LIMIT_MS);
        await eventually(() => !children.some(isAlive) || undefined, `the end of its children at ${moment}`);
      }
      expect(readdirSync(stateDir).filter((name) => /\.(partial|tmp)/.test(name))).toEqual([]);
      expect((await runCommand(["keys", "list"], { MILLRACE_STATE_DIR: stateDir })).code).toBe(0);
    },
  );

  it("during the migration of a new state leaves a whole state or none", async () => {
    for (const moment of [300, 500, 700, 900]) {
      const stateDir = temporaryDirectory();
      const { child, exited } = begin(["worker"], stateDir);
      await delay(moment);
      child.kill("SIGTERM");
      const [code, signal] = await exited;
      expect([0, "SIGTERM"]).toContain(code ?? signal);
      expect((await runCommand(["keys", "list"], { MILLRACE_STATE_DIR: stateDir })).err).not.toMatch(
        /damaged|failed/,
      );
      const { out } = await runCommand(["keys", "create", "--name", "a"], {
        MILLRACE_STATE_DIR: stateDir,
      });
      expect(out).toMatch(/^mill_/);
    }
  });
});

/**
 * Starts a program with a channel to a parent that reads nothing: each message fails with EPIPE, as between the death of a
 * parent and the end of the channel. A line on standard input ends the channel.
 */
const UNREAD_CHANNEL = `
import os, socket, subprocess, sys
ours, theirs = socket.socketpair()
ours.shutdown(socket.SHUT_RD)
number = str(theirs.fileno())
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env={**os.environ, "NODE_CHANNEL_FD": number})
theirs.close()
sys.stdin.readline()
ours.close()
sys.exit(child.wait())
`;
import { PROGRAM } from "../support/built.ts";

describe("an executor whose parent was killed", () => {
  it("survives that its messages can't be sent, and ends in order when the channel ends", async () => {
    const { cli, stateDir } = await testCli({
      good: "name: Good\nsteps:\n  - { id: one, type: set, values: { a: 1 } }\n",
    });
    const { child, exited, text } = begin(["worker", "--id", "exe_test@host"], stateDir, {
      wrap: ["python3", "-c", UNREAD_CHANNEL],
      stdin: "pipe",
    });
    await eventually(() => text().includes("worker started") || undefined, "its start");
    expect(await cli("run", "good")).toMatchObject({ code: 0, err: "" });
    child.stdin!.end("\n");
    expect((await exited)[0]).toBe(0);
    expect(text()).toContain("worker stopped");
    expect(executorsIn(stateDir)).toEqual([]);
  });

  it("hands its jobs back, although nobody reads what it writes and sends", async () => {
    const { stateDir, key } = await stateWithKey();
    const { child, exited, text } = begin(["serve", "--port", "0"], stateDir);
    const port = await eventually(() => /listening on http:\/\/[^"]*:(\d+)/.exec(text())?.[1], "its port");
    const call = apiClient(`http://127.0.0.1:${port}`, key);
    const definition = {
      steps: [
        {
          id: "many",
          type: "set",
          for_each: "${{ range(10000) }}",
          concurrency: 8,
          values: { n: "${{ item }}" },
        },
        { id: "pause", type: "wait", for: "1h" },
      ],
    };
    const created = await call("POST", "/workflows", {
      name: "Busy",
      description: "",
      definition,
    });
    expect([created.status, created.body]).toEqual([201, created.body]);
    expect((await call("POST", "/workflows/busy/runs", {})).status).toBe(202);
    const [executor] = childrenOf(child);
    await eventually(
      async () => (await call("GET", "/runs")).body[0]?.status === "running" || undefined,
      "a running run",
    );
    // Stopped, so that it finds its channel closed and changes to report at once.
    process.kill(executor!, "SIGSTOP");
    child.stdout!.destroy();
    child.stderr!.destroy();
    child.kill("SIGKILL");
    await exited;
    process.kill(executor!, "SIGCONT");
    await eventually(() => !isAlive(executor!) || undefined, "the end of the executor", 20_000);
    // An executor that ends in order takes its entry with it; a crashed one leaves it until its lease expires.
    expect(executorsIn(stateDir)).toEqual([]);
  });
});

function executorsIn(stateDir: string): unknown[] {
  const db = new Database(`${stateDir}/millrace.db`, { readonly: true });
  try {
    return db.prepare("select * from executors").all();
  } finally {
    db.close();
  }
}

/** Saves and starts a workflow that is validated on the event loop, and one that needs a thread. @returns the statuses */
async function createAndRun(call: ReturnType<typeof apiClient>): Promise<number[]> {
  const statuses: number[] = [];
  for (const count of [1, 3_000]) {
    const text = "ab".repeat(count);
    const definition = {
      inputs: {
        type: "object",
        properties: {
          a: { type: "string", pattern: "^(ab)*$", default: text },
        },
      },
      steps: [{ id: "a", type: "set", values: { x: "${{ inputs.a }}" } }],
    };
    const created = await call("POST", "/workflows", {
      name: `With ${count}`,
      description: "",
      definition,
    });
    const started = await call("POST", `/workflows/with-${count}/runs`, {
      inputs: { a: text },
    });
    statuses.push(created.status, started.status);
  }
  return statuses;
}

describe("a process with few file descriptors", () => {
  it.each(["serve", "mcp-sse"] as const)(
    "%s keeps answering while 500 idle connections are opened",
    async (command) => {
      const { stateDir, key } = await stateWithKey();
      const program = await startProgram(command, stateDir, {
        args: ["--workers", "0"],
        wrap: ["sh", "-c", 'ulimit -n 256; exec "$@"', "sh"],
      });
      expect(program.log()).toContain("connections limited");
      const clients = [];
      for (let index = 0; index < 500; index += 1) clients.push(await socketClient(program.url));
      const health = await fetch(`${program.url}/health`);
      expect(health.status).toBe(200);
      const answers = command === "serve" ? await createAndRun(apiClient(program.url, key)) : [];
      expect(answers).toEqual(command === "serve" ? [201, 202, 201, 202] : []);
      expect(program.child.exitCode).toBeNull();
      expect(program.log()).toMatch(/connection of 127\.0\.0\.1 closed, too many connections/);
      expect((await program.stop()).code).toBe(0);
    },
  );
});

describe("a lock that is held for long", () => {
  it.each(Object.entries(COMMANDS))("delays the start of %s", async (_, { args, ready }) => {
    const { stateDir } = await stateWithKey();
    const release = holdLock(stateDir);
    const { child, exited, text } = begin(args, stateDir);
    await delay(8_000);
    expect(child.exitCode).toBeNull();
    release();
    await eventually(() => ready.test(text()) || undefined, `its start: ${text()}`);
    child.kill("SIGTERM");
    expect((await exited)[0]).toBe(0);
  });
});

describe("a full disk", () => {
  it.each(["serve", "worker"])("delays the start of %s until there is space", async (name) => {
    const mount = temporaryDirectory();
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", mount]);
    onTestFinished(() => void execFileSync("umount", ["-l", mount]));
    const stateDir = `${mount}/state`;
    mkdirSync(stateDir, { mode: 0o700 });
    await stateWithKey(stateDir);
    const ballast = `${mount}/ballast`;
    expect(() => writeFileSync(ballast, Buffer.alloc(32 * 1024 * 1024))).toThrow("ENOSPC");
    const { args, ready } = COMMANDS[name]!;
    const { child, exited, text } = begin(args, stateDir);
    await eventually(
      () => text().includes("state not usable yet") || undefined,
      `a line of the log: ${text()}`,
    );
    writeFileSync(ballast, "");
    await eventually(() => ready.test(text()) || undefined, `its start: ${text()}`);
    child.kill("SIGTERM");
    expect((await exited)[0]).toBe(0);
  });
});
