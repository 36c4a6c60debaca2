/** Sends expensive requests to a listener in another process, and measures how long they keep it from serving others. */
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { threadsWaited } from "./cpu-time.ts";
import { EXPENSIVE_SCHEMAS, expensiveRequest, randomChoices } from "./expensive-requests.ts";
import { temporaryDirectory } from "./instance.ts";
import { runCommand, startProgram } from "./process.ts";
import { slowness } from "./slowness.ts";

const MONITOR = fileURLToPath(new URL("loop-monitor.ts", import.meta.url));

/** In the answer of a listener whose threads got less processor time than a check may use. */
const TOO_BUSY = "The machine is too busy to";
/** How often such a request is sent again. */
const TRIES = 4;
/** So long threads that used less than their budget must have waited for a processor, in milliseconds. */
const STARVED_MS = 1_000;
/** Longest turn of the event loop of a listener, in milliseconds of processor time. */
export const MAX_TURN_MS = 100 * slowness();

export interface MonitoredServer {
  url: string;
  key: string;
  /** Returns the longest turn of its event loop since the last call, in milliseconds of processor time. */
  longestTurn(): Promise<number>;
  /** Sends a request, and again when a busy machine left no time to check it, as that answer says. */
  send(method: string, path: string, body?: string): Promise<Answer>;
  /**
   * Sends a request, and returns the longest turn too. If that is too long, the request is sent again: other programs can only
   * make a turn longer, so the shortest one counts.
   */
  measure(method: string, path: string, body: string): Promise<Answer & { ms: number }>;
}

interface Answer {
  status: number;
  text: string;
  /** Whether the machine was in fact too busy at the last try, so that a 503 is the right answer. */
  isStarved: boolean;
}

/** Starts a listener whose event loop is monitored. */
export async function startMonitoredServer(): Promise<MonitoredServer> {
  const stateDir = temporaryDirectory();
  const made = await runCommand(
    ["keys", "create", "--name", "fuzz", "--scope", "read", "write", "publish", "run", "approve"],
    {
      MILLRACE_STATE_DIR: stateDir,
    },
  );
  const key = made.out.trim().split("\n").at(-1)!.trim();
  const socket = join(stateDir, "monitor.sock");
  const { url, child } = await startProgram("serve", stateDir, {
    args: ["--workers", "0"],
    env: { NODE_OPTIONS: `--import ${MONITOR}`, LOOP_MONITOR: socket, MILLRACE_LOG_LEVEL: "info" },
  });
  const server: MonitoredServer = {
    url,
    key,
    async measure(...request) {
      let ms = Infinity;
      for (let tries = 0; ; tries += 1) {
        const answer = await server.send(...request);
        ms = Math.min(ms, await server.longestTurn());
        if (ms < MAX_TURN_MS || tries === TRIES) return { ...answer, ms };
      }
    },
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
      for (let again = TRIES; ; again -= 1) {
        const before = threadsWaited(child.pid!);
        const response = await fetch(`${url}${path}`, {
          method,
          headers: { "X-API-Key": key, ...(body !== undefined && { "Content-Type": "application/json" }) },
          ...(body !== undefined && { body }),
        });
        const text = await response.text();
        const isBusy = text.includes(TOO_BUSY);
        const isStarved = isBusy && threadsWaited(child.pid!) - before > STARVED_MS;
        if (again === 0 || !isBusy) return { status: response.status, text, isStarved };
      }
    },
  };
  return server;
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
    const { status, text, ms, isStarved } = await server.measure(method, path, body);
    report.statuses[status] = (report.statuses[status] ?? 0) + 1;
    if (status >= 500 && !isStarved) report.failed.push(`${name}: ${status} ${text.slice(0, 200)}`);
    if (ms > report.longest.ms) report.longest = { ms, name: `${name}, ${body.length} characters` };
  }
  return report;
}
