#!/usr/bin/env node
// A checkout runs its TypeScript as it is, a release what was built from it. Both need Node 24: `npm run`, `npx` and
// `npm start` find the one among the dependencies; a bare `node` may be older.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

if (Number(process.versions.node.split(".")[0]) >= 24) {
  module.enableCompileCache();
  await import(existsSync(here("../src/main.ts")) ? "../src/main.ts" : "../dist/src/main.js");
} else if (existsSync(here("../node_modules/node/bin/node"))) {
  const child = spawn(here("../node_modules/node/bin/node"), process.argv.slice(1), {
    // By the channel it learns that this process was killed: it is not left behind.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  // A terminal's Ctrl-C reaches both; passed on as SIGINT it would be a second one, which means "at once".
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill("SIGTERM"));
  child.on("exit", (status) => process.exit(status ?? 1));
} else {
  console.error(
    `Millrace needs Node 24 or newer; this is ${process.version}. Run it with npx millrace after npm install.`,
  );
  process.exitCode = 1;
}
