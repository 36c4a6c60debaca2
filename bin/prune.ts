/**
 * Deletes the files of an installed node_modules that no program loads, about half of them, to make the image smaller.
 *   node bin/prune.ts <node_modules>
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join, sep } from "node:path";

/** Files for editors and bundlers: source maps, types, and sources that Node does not run in node_modules. */
const UNUSED_FILES = /\.(?:map|ts|mts|cts|tsx|flow|tsbuildinfo|md|markdown)$/i;
/** Licence files must be distributed with their packages. */
const LICENCE = /^(?:licen[cs]e|notice|copying|third-party)/i;

/** Paths for a compiler, a bundler or another platform. */
const UNUSED_PATHS = [
  /^better-sqlite3\/(?:deps|src|binding\.gyp)$/,
  new RegExp(`^better-sqlite3/prebuilds/(?!${process.platform}-${process.arch}\\.node$)`),
  // Node loads build/src, by `exports` and `main`.
  /^@opentelemetry\/[^/]+\/build\/(?:esm|esnext)$/,
  // Node loads the one named by `exports` or `main`.
  /^@simplewebauthn\/server\/script$/,
  /^@peculiar\/[^/]+\/build\/es2015$/,
  /^tsyringe\/dist\/esm\d+$/,
  /^otpauth\/dist\/otpauth\.(?!node\.)/,
  // /apidoc loads only swagger-ui-bundle.js and the preset.
  /^swagger-ui-dist\/(?:swagger-ui-es-bundle.*|swagger-ui|log\..*)\.(?:js|txt)$/,
];

const [root] = process.argv.slice(2);
if (root === undefined)
  throw new Error("The node_modules directory is missing. Usage: node bin/prune.ts <node_modules>");

let files = 0;
let bytes = 0;
const entries = readdirSync(root, { recursive: true, withFileTypes: true });
for (const entry of entries) {
  const path = join(entry.parentPath, entry.name);
  // Packages can contain node_modules of their own, so the last one in the path counts.
  const [, inPackage] = /^.*(?:^|\/)node_modules\/(.*)$/.exec(path.split(sep).join("/")) ?? [];
  const unusedPath = inPackage !== undefined && UNUSED_PATHS.some((pattern) => pattern.test(inPackage));
  const unusedFile = entry.isFile() && UNUSED_FILES.test(entry.name) && !LICENCE.test(entry.name);
  if (!unusedPath && !unusedFile) continue;
  const removed = entry.isDirectory()
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((inside) => inside.isFile())
        .map((inside) => join(inside.parentPath, inside.name))
    : [path];
  for (const file of removed) {
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) continue;
    files += 1;
    bytes += size;
  }
  rmSync(path, { recursive: true, force: true });
}
console.log(`Pruned ${files} files, ${Math.round(bytes / 1024 ** 2)} MB`);
