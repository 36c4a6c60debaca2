/**
 * Builds what is missing or older than its sources: the program and the web interface, or one of them (`node bin/prepare.js web`).
 * Does nothing after an install without the development dependencies.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isCurrent, ROOT } from "./builds.js";

const names = process.argv.length > 2 ? process.argv.slice(2) : ["program", "web"];
const isDevelopment = existsSync(join(ROOT, "node_modules/vite/package.json"));
for (const name of isDevelopment ? names : []) {
  if (isCurrent(name)) continue;
  const { status } = spawnSync("npm", ["run", "--silent", `build:${name}`], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    // The NODE_ENV of a test runner would select the larger and slower development builds of libraries.
    env: { ...process.env, NODE_ENV: "production" },
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}
