/** Builds what the tests start, the program and the web interface, if it is older than its sources. */
import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Starts the built program: `node PROGRAM serve`. */
export const PROGRAM = fileURLToPath(new URL("program.js", import.meta.url));
const SOURCES = ["src", "tools", "schemas", "package.json", "vite.program.config.ts"];

export default function build(): void {
  const changed = Math.max(...SOURCES.map(lastChange));
  for (const [script, output] of [
    ["build:program", "dist/program/main.js"],
    ["build:web", "dist/web/index.html"],
  ] as const) {
    if ((modified(output) ?? 0) > changed) continue;
    execFileSync("npm", ["run", "--silent", script], {
      cwd: ROOT,
      // The test runner's NODE_ENV would select the larger and slower development builds of libraries.
      env: { ...process.env, NODE_ENV: "production" },
      stdio: ["ignore", "inherit", "inherit"],
    });
  }
}

/** When a file, or any file or directory in a directory, was last written: milliseconds since 1970. */
function lastChange(path: string): number {
  const inside = statSync(join(ROOT, path)).isDirectory()
    ? readdirSync(join(ROOT, path), { recursive: true })
    : [];
  return Math.max(modified(path)!, ...inside.map((name) => modified(join(path, String(name)))!));
}

const modified = (path: string): number | undefined =>
  statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs;
