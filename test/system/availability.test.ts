/** What remains available while an executor is killed, a clock is wrong, or the state is locked. */
import { execFileSync } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { untilPassing } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { holdLock } from "../support/lock.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { runCommand, startProgram, startWorker as startWorkerIn } from "../support/process.ts";

const LEASE_MS = 2_000;
/** How long the slow step takes, in milliseconds. */
const SLOW_MS = 3_000;

/** A server without executors, and executors beside it; one slow workflow, one that ends at once, and one that waits. */
async function open() {
  const stateDir = temporaryDirectory();
  const peer = await mockHttpServer((_request, response) => {
    setTimeout(() => sendJson(response, {}), SLOW_MS);
  });
  const config = join(stateDir, "config.yaml");
  writeFileSync(config, `http:\n  allowed_hosts: ["${peer.host}"]\n`);
  const createKey = async (name: string): Promise<string> =>
    (await runCommand(["keys", "create", "--name", name], { MILLRACE_STATE_DIR: stateDir })).out.trim();
  const server = await startProgram("serve", stateDir, { args: ["--workers", "0", "--config", config] });
  const call = apiClient(server.url, await createKey("test"));
  const define = async (name: string, step: object): Promise<string> => {
    const { body } = await call("POST", "/workflows", { name, definition: { steps: [step] } });
    expect(body.issues).toEqual([]);
    return body.id as string;
  };

  const args = ["--lease", String(LEASE_MS), "--slots", "16", "--config", config];
  return {
    stateDir,
    call,
    /** Calls as another owner. */
    callAsOther: apiClient(server.url, await createKey("other")),
    startWorker: (env: Record<string, string> = {}) => startWorkerIn(stateDir, { args, env }),
    slow: await define("Slow", { id: "call", type: "http", method: "GET", url: peer.url, timeout: "20s" }),
    quick: await define("Quick", { id: "set", type: "set", values: { n: 1 } }),
    halfHour: await define("Half an hour", { id: "wait", type: "wait", for: "30m" }),
    soon: await define("Soon", { id: "wait", type: "wait", for: "1s" }),
    start: async (workflow: string): Promise<string> => {
      const { status, body } = await call("POST", `/workflows/${workflow}/runs`, {});
      expect(status).toBe(202);
      return body.id as string;
    },
    statusOf: async (run: string): Promise<string> => (await call("GET", `/runs/${run}`)).body.status,
  };
}

describe("an executor that is killed with 12 slow steps in progress", () => {
  it("leaves them to another one, which runs them together and beside new runs", async () => {
    const { callAsOther, startWorker, slow, quick, start, statusOf } = await open();
    const killed = await startWorker();
    const runs = await Promise.all(Array.from({ length: 12 }, () => start(slow)));
    await untilPassing(async () =>
      expect(new Set(await Promise.all(runs.map(statusOf)))).toEqual(new Set(["running"])),
    );
    await startWorker();
    killed.child.kill("SIGKILL");
    const killedAt = performance.now();
    const durations: number[] = [];
    for (let left = runs; left.length > 0;) {
      const startedAt = performance.now();
      const { status } = await callAsOther("POST", `/workflows/${quick}/runs`, { wait: 30 });
      expect(status).toBe(200);
      durations.push(performance.now() - startedAt);
      const statuses = await Promise.all(left.map(statusOf));
      left = left.filter((_, index) => statuses[index] === "running");
      await delay(50);
    }
    // One after the other they would take 36 s, and each would keep the quick ones waiting.
    expect(performance.now() - killedAt).toBeLessThan(1.5 * LEASE_MS + 2 * SLOW_MS + 6_000);
    expect(Math.max(...durations)).toBeLessThan(SLOW_MS / 2);
    expect(new Set(await Promise.all(runs.map(statusOf)))).toEqual(new Set(["succeeded"]));
  });
});

/** A wall clock that one process reads; its monotonic clock, and those of the others, are not affected. */
function turnableClock() {
  const file = join(temporaryDirectory(), "offset");
  const turn = (seconds: number): void => {
    writeFileSync(`${file}.new`, `+${seconds}`);
    renameSync(`${file}.new`, file);
  };
  turn(0);
  const found = execFileSync("sh", ["-c", "ls /usr/lib/*/faketime/libfaketimeMT.so.1"], { encoding: "utf8" });
  const env = {
    LD_PRELOAD: found.trim().split("\n")[0]!,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  return { turn, env };
}

describe("an executor whose clock is an hour ahead", () => {
  it("ends no wait and says so, and takes part again when its clock is right", async () => {
    const { startWorker, halfHour, quick, start, statusOf } = await open();
    const { turn, env } = turnableClock();
    const turned = await startWorker(env);
    await startWorker();
    const waiting = await start(halfHour);
    await untilPassing(async () => expect(await statusOf(waiting)).toBe("waiting"));
    turn(3_600);
    await untilPassing(() => expect(turned.log()).toContain("differs from that of the others"));
    for (let run = 0; run < 20; run += 1) await start(quick);
    const next = await start(halfHour);
    await untilPassing(async () => expect(await statusOf(next)).toBe("waiting"));
    turn(0);
    await untilPassing(() => expect(turned.log()).toContain("agrees with that of the others again"));
    expect(await Promise.all([waiting, next].map(statusOf))).toEqual(["waiting", "waiting"]);
  });
});

describe("a state that is locked for longer than every time limit", () => {
  it("costs time, no run and no executor", async () => {
    const { stateDir, call, startWorker, slow, quick, soon, start, statusOf } = await open();
    const workers = [await startWorker(), await startWorker()];
    const runs = [await start(slow), await start(soon)];
    await untilPassing(async () =>
      expect(await Promise.all(runs.map(statusOf))).toEqual(["running", "waiting"]),
    );
    const release = holdLock(stateDir, "immediate");
    const heldAt = performance.now();
    while (performance.now() - heldAt < 4 * LEASE_MS) {
      const { status, body, headers } = await call("POST", `/workflows/${quick}/runs`, {});
      expect([status, body.code, headers.get("retry-after")]).toEqual([503, "busy", "1"]);
      expect(body.detail).toContain(`process ${process.pid}`);
      expect((await call("GET", `/runs/${runs[0]}`)).status).toBe(200);
    }
    release();
    runs.push(await start(quick));
    await untilPassing(async () =>
      expect(await Promise.all(runs.map(statusOf))).toEqual(["succeeded", "succeeded", "succeeded"]),
    );
    for (const { child, log } of workers) {
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
      await untilPassing(() => expect(log()).toContain("storage available again"));
      expect(log()).not.toContain("lease expired");
    }
  });
});
