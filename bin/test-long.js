/**
 * `npm run test:long`: the tests of the long gate. `npm run test:long -- web kills` runs only these parts. Prints how long each part
 * took. Exits with 1 if a part failed; the others are run all the same.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The projects of vitest.long.config.ts. */
const PARTS = [
  "web",
  "kills",
  "deploy",
  "load",
  "databases",
  "generated",
  "simulation",
  "costs",
  "postgres",
  "clients",
];

const names = process.argv.slice(2);
const unknown = names.filter((name) => !PARTS.includes(name));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(", ")}. The parts are ${PARTS.join(", ")}.`);
  process.exit(2);
}

const OPTIONS = { cwd: ROOT, stdio: "inherit", shell: process.platform === "win32" };
const isDone = (command, ...args) => spawnSync(command, args, OPTIONS).status === 0;

function runPart(name) {
  // Other people's clients are a package of their own, because they are large (1.2 GB).
  if (name === "clients" && !isDone("npm", "ci", "--prefix", "test/clients", "--ignore-scripts"))
    return false;
  return isDone("vitest", "run", "--config", "vitest.long.config.ts", "--project", name);
}

const results = (names.length > 0 ? names : PARTS).map((name) => {
  console.log(`\n== test:long ${name}`);
  const started = performance.now();
  const passed = runPart(name);
  return { name, passed, seconds: Math.round((performance.now() - started) / 1_000) };
});

console.log("");
for (const { name, passed, seconds } of results)
  console.log(`${passed ? "passed" : "FAILED"} ${String(seconds).padStart(5)} s  ${name}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
