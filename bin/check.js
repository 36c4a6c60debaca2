/**
 * `npm run check:static`: every check that runs no test, two at a time. Prints the output of those that fail, and how long each
 * took. Exits with 1 if one failed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const AT_A_TIME = 2;

/** The scripts of package.json, the longest first. */
const CHECKS = ["generate:check", "format:check", "lint", "types", "unused", "lint:openapi"];

async function run(name) {
  const started = performance.now();
  const child = spawn("npm", ["run", "--silent", name], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk) => (output += chunk));
  const [code] = await once(child, "close");
  const seconds = String(Math.round((performance.now() - started) / 1_000)).padStart(4);
  console.log(`${code === 0 ? "passed" : "FAILED"} ${seconds} s  npm run ${name}`);
  if (code !== 0) console.log(output);
  return code === 0;
}

const waiting = [...CHECKS];
let failed = false;
async function work() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
    if (!(await run(name))) failed = true;
}
await Promise.all(Array.from({ length: AT_A_TIME }, work));
process.exitCode = failed ? 1 : 0;
