/** Sends expensive requests to a listener in another process, and measures how long they keep it from serving others. */
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXPENSIVE_SCHEMAS, expensiveRequest, randomChoices } from "./expensive-requests.ts";
import { temporaryDirectory } from "./instance.ts";
import { runCommand, startProgram } from "./process.ts";

const MONITOR = fileURLToPath(new URL("loop-monitor.ts", import.meta.url));

export interface MonitoredServer {
  url: string;
  key: string;
  /** Returns the longest turn of its event loop since the last call, in milliseconds of processor time. */
  longestTurn(): Promise<number>;
  send(method: string, path: string, body?: string): Promise<{ status: number; text: string }>;
}

/** Starts a listener whose event loop is monitored. */
export async function startMonitoredServer(): Promise<MonitoredServer> {
  const stateDir = temporaryDirectory();
  const made = await runCommand(
    ["keys", "create", "--name", "fuzz", "--scope", "read", "write", "run", "approve"],
    {
      MILLRACE_STATE_DIR: stateDir,
    },
  );
  const key = made.out.trim().split("\n").at(-1)!.trim();
  const socket = join(stateDir, "monitor.sock");
  const { url } = await startProgram("serve", stateDir, {
    args: ["--workers", "0"],
    env: { NODE_OPTIONS: `--import ${MONITOR}`, LOOP_MONITOR: socket, MILLRACE_LOG_LEVEL: "info" },
  });
  return {
    url,
    key,
    longestTurn: () =>
      new Promise((resolve, reject) => {
        let answer = "";
        connect(socket)
          .setEncoding("utf8")
          .on("data", (chunk: string) => (answer += chunk))
          .once("end", () => resolve(Number(answer)))
          .once("error", reject);
      }),
    async send(method, path, body) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { "X-API-Key": key, ...(body !== undefined && { "Content-Type": "application/json" }) },
        ...(body !== undefined && { body }),
      });
      return { status: response.status, text: await response.text() };
    },
  };
}

export interface FuzzReport {
  /** The longest turn of the event loop, in milliseconds of processor time, and the request that was served then. */
  longest: { ms: number; name: string };
  /** Requests with an unexpected status. */
  failed: string[];
  statuses: Record<number, number>;
}

/** Creates the workflows that requests use. @returns their ids by the name of their schema */
async function createWorkflows({ send }: MonitoredServer): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const [name, definition] of Object.entries(EXPENSIVE_SCHEMAS)) {
    const { status, text } = await send("POST", "/workflows", JSON.stringify({ name, definition }));
    if (status !== 201) throw new Error(`${name}: ${status} ${text}`);
    ids[name] = (JSON.parse(text) as { id: string }).id;
  }
  return ids;
}

/** Sends `count` random requests, one after the other. */
export async function fuzzHealth(seed: number, count: number): Promise<FuzzReport> {
  const server = await startMonitoredServer();
  const ids = await createWorkflows(server);
  const random = randomChoices(seed);
  await server.longestTurn();
  const report: FuzzReport = { longest: { ms: 0, name: "" }, failed: [], statuses: {} };
  for (let sent = 0; sent < count; sent += 1) {
    const { name, method, path, body } = expensiveRequest(random, ids);
    const { status, text } = await server.send(method, path, body);
    const ms = await server.longestTurn();
    report.statuses[status] = (report.statuses[status] ?? 0) + 1;
    if (status >= 500) report.failed.push(`${name}: ${status} ${text.slice(0, 200)}`);
    if (ms > report.longest.ms) report.longest = { ms, name: `${name}, ${body.length} characters` };
  }
  return report;
}
