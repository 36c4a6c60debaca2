import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";
import { childrenOf, startProgram } from "../support/process.ts";
import { PROGRAM } from "../support/built.ts";

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function startBoth(args: string[] = []) {
  const parent = spawn(process.execPath, [PROGRAM, "start", "--port", "0", "--mcp-port", "0", ...args], {
    env: { ...process.env, MILLRACE_STATE_DIR: temporaryDirectory() },
    stdio: ["ignore", "pipe", "pipe"],
    // Its own process group, so that a test can send Ctrl-C to it alone.
    detached: true,
  });
  onTestFinished(() => {
    try {
      process.kill(-parent.pid!, "SIGKILL");
    } catch {
      // All of them have ended, as the tests expect.
    }
  });
  let out = "";
  let err = "";
  parent.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  parent.stderr.setEncoding("utf8").on("data", (chunk: string) => (err += chunk));
  const exited = once(parent, "exit") as Promise<[number | null]>;
  return {
    parent,
    out: () => out,
    err: () => err,
    exited: exited.then(([code]) => code),
    async children(): Promise<number[]> {
      await vi.waitFor(() => expect(childrenOf(parent)).toHaveLength(2), 10_000);
      return childrenOf(parent);
    },
    ready: () => vi.waitFor(() => expect(out).toContain("Press Ctrl-C to stop both servers."), 10_000),
  };
}

/** A valid configuration with one unset variable, which causes a warning. */
function withWarning(): string {
  const stateDir = temporaryDirectory();
  const basic = {
    smtp_user: "mill@example.com",
    smtp_password_var: "MILLRACE_TEST_NOT_SET",
    smtp_server: "127.0.0.1",
    smtp_port: 2525,
  };
  writeFileSync(join(stateDir, "config.yaml"), JSON.stringify({ authentication: { basic } }));
  return stateDir;
}

/** The processes that are still running after they had time to end. */
async function orphans(pids: number[]): Promise<number[]> {
  for (const deadline = performance.now() + 11_000; performance.now() < deadline;) {
    if (!pids.some(isAlive)) return [];
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return pids.filter(isAlive);
}

describe("millrace start", () => {
  it("runs both servers and prints where they are", async () => {
    const { ready, out } = startBoth();
    await ready();
    const [rest, mcp] = [/http:\S+(?=\/workflows)/.exec(out())![0], /http:\S+(?=\/mcp)/.exec(out())![0]];
    for (const url of [rest, mcp]) expect((await fetch(`${url}/health`)).status).toBe(200);
    // oxlint-disable-next-line no-control-regex
    expect(out()).not.toMatch(/\u001b/);
    // There is no terminal, so a key would end up in a log.
    expect(out()).not.toMatch(/mill_/);
  });

  it("stops both on SIGTERM and ends with 0", async () => {
    const { parent, ready, children, exited, err } = startBoth();
    await ready();
    const pids = await children();
    parent.kill("SIGTERM");
    expect(await exited).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(err()).toContain("serve stopped");
    expect(err()).toContain("mcp-sse stopped");
  });

  it("stops both on Ctrl-C, which reaches all three at once, and ends with 0", async () => {
    const { parent, ready, children, exited } = startBoth();
    await ready();
    const pids = await children();
    process.kill(-parent.pid!, "SIGINT");
    expect(await exited).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("treats a Ctrl-C after its own SIGTERM as the same request, not as a second one", async () => {
    const { parent, ready, children, exited } = startBoth(["--drain-delay", "1"]);
    await ready();
    const pids = await children();
    for (const pid of pids) process.kill(pid, "SIGTERM");
    process.kill(-parent.pid!, "SIGINT");
    expect(await exited).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it.each([0, 1])("stops the other when child %i dies, and ends with a code other than 0", async (which) => {
    const { ready, children, exited, err } = startBoth();
    await ready();
    const pids = await children();
    process.kill(pids[which]!, "SIGKILL");
    expect(await exited).toBe(1);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(err()).toContain("The other server was stopped too");
  });

  it("leaves no orphan when it is killed while both serve", async () => {
    const { parent, ready, children } = startBoth();
    await ready();
    const pids = await children();
    parent.kill("SIGKILL");
    expect(await orphans(pids)).toEqual([]);
  });

  it("leaves no orphan when it is killed while they start", async () => {
    const { parent, children } = startBoth();
    const pids = await children();
    parent.kill("SIGKILL");
    expect(await orphans(pids)).toEqual([]);
  });
});

describe("the log", () => {
  it("is not delayed by an earlier warning", async () => {
    const { log, url } = await startProgram("serve", withWarning());
    expect(log()).toContain("MILLRACE_TEST_NOT_SET is not set");
    await vi.waitFor(() => expect(log()).toContain("there is no admin account yet"), 5_000);
    await fetch(`${url}/session`, { headers: { "X-Request-Id": "after-the-warning" } });
    await vi.waitFor(() => expect(log()).toContain("after-the-warning"), 5_000);
  });
});

describe("serve behind a wrapper that found a newer Node", () => {
  it("says how to create the admin, because the channel is not that of start", async () => {
    const child = spawn(process.execPath, [PROGRAM, "serve", "--port", "0", "--workers", "0"], {
      env: { ...process.env, MILLRACE_STATE_DIR: temporaryDirectory() },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let log = "";
    child.stderr!.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
    await vi.waitFor(() => expect(log).toContain("millrace users setup-link"), 15_000);
  });
});
