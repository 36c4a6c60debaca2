/**
 * Lets somebody with a command line be the agent: `start` begins a task in the background and prints what an MCP client
 * shows, `call` calls a tool, `finish` judges the outcome and writes the transcript.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { SessionMessage, SessionOptions } from "./session-server.ts";
import { tasks } from "./tasks/index.ts";

const USAGE = `node bench/agents/session.ts <command>
  list                                  lists the tasks
  start <number or id> [--agent NAME] [--record DIRECTORY]
                                        starts a task and prints its session, its request and the tools
  call <session> <tool> [arguments]     calls a tool; arguments are JSON, @file, or - for standard input
  finish <session>                      judges the outcome, writes the transcript and ends the session`;

/** The directory of running sessions: a file for each, with the address of its process. */
const SESSIONS = join(tmpdir(), "millrace-agent-sessions");

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { agent: { type: "string", default: "unnamed" }, record: { type: "string" } },
});
const [command, ...rest] = positionals;

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

function findTask(wanted = ""): string {
  const task = tasks.find(({ id }) => id === wanted) ?? tasks[Number(wanted) - 1];
  return task?.id ?? fail(`There is no task ${wanted}: give its id, or a number from 1 to ${tasks.length}.`);
}

async function start(wanted?: string): Promise<void> {
  const task = findTask(wanted);
  mkdirSync(SESSIONS, { recursive: true });
  const options: SessionOptions = { task, agent: values.agent, record: resolve(values.record ?? ".") };
  const server = fork(
    fileURLToPath(new URL("session-server.ts", import.meta.url)),
    [JSON.stringify(options)],
    {
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      execArgv: [],
    },
  );
  const [message] = (await Promise.race([
    once(server, "message"),
    once(server, "exit").then(([code]) => fail(`The session ended with code ${code} before it was ready.`)),
  ])) as [SessionMessage];
  server.disconnect();
  server.unref();
  if ("failed" in message) fail(message.failed);
  const { session, url, request, instructions, tools } = message;
  writeFileSync(join(SESSIONS, session), url, { mode: 0o600 });
  console.log(`Session: ${session}\n\n# The person says\n\n${request}\n`);
  console.log(`# The MCP server says\n\n${instructions}\n\n# Its tools\n`);
  for (const tool of tools) console.log(`${JSON.stringify(tool)}\n`);
}

async function post(session: string | undefined, path: string, body: unknown): Promise<string> {
  if (session === undefined) fail(USAGE);
  let url: string;
  try {
    url = readFileSync(join(SESSIONS, session), "utf8");
  } catch {
    return fail(`There is no session ${session}. Start one.`);
  }
  try {
    const response = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
    return await response.text();
  } catch {
    return fail(`The session ${session} has ended.`);
  }
}

async function readArguments(given = "{}"): Promise<unknown> {
  const text =
    given === "-"
      ? await readAll(process.stdin)
      : given.startsWith("@")
        ? readFileSync(given.slice(1), "utf8")
        : given;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return fail(`The arguments are not JSON: ${(error as Error).message}`);
  }
}

const [first, second, third] = rest;
if (command === "list")
  for (const [index, { id, subject }] of tasks.entries()) console.log(`${index + 1} ${id}: ${subject}`);
else if (command === "start") await start(first);
else if (command === "call") {
  if (second === undefined) fail(USAGE);
  console.log(await post(first, "/call", { tool: second, arguments: await readArguments(third) }));
} else if (command === "finish") {
  console.log(await post(first, "/finish", {}));
  rmSync(join(SESSIONS, first!));
} else fail(USAGE);
