/**
 * Builds what is missing or older than its sources: after `npm install` the web interface, before tests the program too
 * (`node bin/prepare.js program web`). Does nothing after an install without the development dependencies.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** A file that each build writes, and its sources. Both contain dependencies. */
const BUILDS = {
  program: {
    output: "dist/program/main.js",
    sources: ["src", "tools", "schemas", "package-lock.json", "vite.program.config.ts"],
  },
  web: { output: "dist/web/index.html", sources: ["src/web", "schemas", "package-lock.json"] },
};

/** When a file, or any file or directory in a directory, was last written: milliseconds since 1970. */
function lastChange(path) {
  const times = [statSync(join(ROOT, path)).mtimeMs];
  if (statSync(join(ROOT, path)).isDirectory())
    for (const name of readdirSync(join(ROOT, path), { recursive: true }))
      times.push(statSync(join(ROOT, path, String(name))).mtimeMs);
  return Math.max(...times);
}

const isCurrent = ({ output, sources }) =>
  existsSync(join(ROOT, output)) && lastChange(output) > Math.max(...sources.map(lastChange));

const names = process.argv.length > 2 ? process.argv.slice(2) : ["web"];
const isDevelopment = existsSync(join(ROOT, "node_modules/vite/package.json"));
for (const name of isDevelopment ? names : []) {
  if (isCurrent(BUILDS[name])) continue;
  const { status } = spawnSync("npm", ["run", "--silent", `build:${name}`], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    // The NODE_ENV of a test runner would select the larger and slower development builds of libraries.
    env: { ...process.env, NODE_ENV: "production" },
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}
