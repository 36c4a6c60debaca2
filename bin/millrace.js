#!/usr/bin/env node
// Runs the built program, which starts in half the time of the TypeScript sources. A checkout runs these where they are newer, and
// in a debugger. Both need Node 24, which is among the dependencies: `npm run`, `npx` and `npm start` find it there, but a bare
// `node` may be older.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

async function runsSources() {
  if (!existsSync(here("../src/main.ts"))) return false;
  if (process.execArgv.some((option) => option.startsWith("--inspect"))) return true;
  const { isCurrent } = await import("./builds.js");
  return !isCurrent("program");
}

if (Number(process.versions.node.split(".")[0]) >= 24) {
  module.enableCompileCache();
  await import((await runsSources()) ? "../src/main.ts" : "../dist/program/main.js");
} else if (existsSync(here("../node_modules/node/bin/node"))) {
  const child = spawn(here("../node_modules/node/bin/node"), process.argv.slice(1), {
    // The child ends when the channel closes, so it does not outlive this process.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  // A terminal sends Ctrl-C to both processes. A forwarded SIGINT would be the second one, which ends the child at once.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill("SIGTERM"));
  child.on("exit", (status) => process.exit(status ?? 1));
} else {
  console.error(
    `Millrace needs Node 24 or newer, but this is Node ${process.version}. Run npm install, then npx millrace.`,
  );
  process.exitCode = 1;
}
