/**
 * `npm run dev`: both servers, started again when their source changes, and Vite, which reloads the interface.
 * A saved message catalogue is compiled.
 * Arguments are those of `millrace start`. State lies in `MILLRACE_STATE_DIR`, else in `.dev-state` of the checkout.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { watch } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createServer } from "vite";
import { messageModules } from "./messages/files.ts";
import { writeFiles } from "./write-files.ts";

const ROOT = join(import.meta.dirname, "..");
const SERVER_SOURCE = ["src", "tools", "schemas"];
/** One save touches several files, and an editor writes each more than once. In milliseconds. */
const DEBOUNCE_MS = 100;

const args = process.argv.slice(2);
const { values } = parseArgs({ args, options: { port: { type: "string", default: "3000" } }, strict: false });
// MILLRACE_URL is only for Vite: with it, start would refuse to work on the state of this machine.
const { MILLRACE_URL: _, ...inherited } = process.env;
const env = { MILLRACE_STATE_DIR: join(ROOT, ".dev-state"), ...inherited };

let servers: ChildProcess | undefined;
let stopping = false;

function startServers(): void {
  const child = spawn(
    process.execPath,
    [join(ROOT, "bin/millrace.js"), "start", "--drain-delay", "0", ...args],
    {
      cwd: ROOT,
      env,
      stdio: "inherit",
    },
  );
  servers = child;
  child.once("exit", (code) => {
    if (servers === child) servers = undefined;
    if (!stopping && code !== 0 && code !== null)
      console.log("\nThe servers ended. They start again when a file changes.");
  });
}

/** Ends the servers, if they run; resolves when their ports are free. */
async function stopServers(): Promise<void> {
  const child = servers;
  if (child === undefined) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

async function restart(path: string): Promise<void> {
  if (stopping) return;
  console.log(`\n${path} changed: the servers start again.`);
  await stopServers();
  startServers();
}

let restarting = Promise.resolve();

/** @returns a function that calls `act` once for several calls in a row, with the last argument */
function debounce(act: (path: string) => void): (path: string) => void {
  let timer: NodeJS.Timeout | undefined;
  return (path) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(path), DEBOUNCE_MS);
  };
}

const restartSoon = debounce((path) => {
  restarting = restarting.then(() => restart(path));
});

/** Vite reloads the interface when the modules change. */
const compileMessagesSoon = debounce((path) => {
  try {
    writeFiles(messageModules());
  } catch (error) {
    // The interface keeps the texts that it has until the catalogue is correct.
    console.error(`\n${path}: ${(error as Error).message}`);
  }
});

/** The interface is Vite's business, and what the generator writes does not run. */
const isServerSource = (path: string): boolean =>
  path.endsWith(".ts") &&
  !path.startsWith(join("src", "web")) &&
  !path.startsWith(join("schemas", "generated"));

const isCatalogue = (path: string): boolean =>
  path.endsWith(".json") && path.startsWith(join("src", "web", "messages"));

for (const folder of SERVER_SOURCE) {
  watch(join(ROOT, folder), { recursive: true }, (_event, name) => {
    const path = join(folder, name ?? "");
    if (isServerSource(path)) restartSoon(path);
    else if (isCatalogue(path)) compileMessagesSoon(path);
  });
}

startServers();
process.env["MILLRACE_URL"] ??= `http://127.0.0.1:${String(values["port"])}`;
const vite = await createServer({ configFile: join(ROOT, "src/web/vite.config.ts") });
await vite.listen();
console.log("\nThe interface, reloaded as you save:");
vite.printUrls();

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    stopping = true;
    void Promise.allSettled([stopServers(), vite.close()]).then(() => process.exit(0));
  });
}
