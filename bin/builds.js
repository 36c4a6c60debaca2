/** What is built from the sources of a checkout, and whether it is newer than they are. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** A file that each build writes, and its sources. Both contain dependencies. */
const BUILDS = {
  program: {
    output: "dist/program/main.js",
    sources: ["src", "tools", "schemas", "package-lock.json", "vite.program.config.ts"],
  },
  web: { output: "dist/web/index.html", sources: ["src/web", "schemas", "package-lock.json"] },
};

/**
 * Whether a build exists and is newer than every file and directory of its sources.
 * @param {keyof typeof BUILDS} name
 */
export function isCurrent(name) {
  const { output, sources } = BUILDS[name];
  const path = join(ROOT, output);
  return existsSync(path) && lastChange(path) > Math.max(...sources.map((it) => lastChange(join(ROOT, it))));
}

/** When a file, or any file or directory in a directory, was last written: milliseconds since 1970. */
function lastChange(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => lastChange(join(path, name))));
}
