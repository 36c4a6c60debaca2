#!/usr/bin/env node
// A checkout runs its TypeScript as it is, a release what was built from it. Both need Node 24: `npm run`, `npx` and
// `npm start` find the one among the dependencies; a bare `node` may be older.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

if (Number(process.versions.node.split(".")[0]) >= 24) {
  module.enableCompileCache();
  await import(existsSync(here("../src/main.ts")) ? "../src/main.ts" : "../dist/src/main.js");
} else if (existsSync(here("../node_modules/node/bin/node"))) {
  const { status } = spawnSync(here("../node_modules/node/bin/node"), process.argv.slice(1), {
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} else {
  console.error(
    `Millrace needs Node 24 or newer; this is ${process.version}. Run it with npx millrace after npm install.`,
  );
  process.exitCode = 1;
}
