/**
 * Takes out of an installed node_modules what no program can load: for the image, about half of it.
 *   node bin/prune.ts <node_modules>
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join, sep } from "node:path";

/** Source maps, typings and sources (Node runs no TypeScript below node_modules), what bundlers and editors read. */
const USELESS = /\.(?:map|ts|mts|cts|tsx|flow|tsbuildinfo|md|markdown)$/i;
/** Licences ask to be handed on with what they license. */
const LICENCE = /^(?:licen[cs]e|notice|copying|third-party)/i;

/** Directories that are there for a compiler, for a bundler or for another system. */
const UNUSED = [
  /^better-sqlite3\/(?:deps|src|binding\.gyp)$/,
  new RegExp(`^better-sqlite3/prebuilds/(?!${process.platform}-${process.arch}\\.node$)`),
  // What `exports` and `main` lead Node to is build/src.
  /^@opentelemetry\/[^/]+\/build\/(?:esm|esnext)$/,
  // The page loads swagger-ui-bundle.js and the preset.
  /^swagger-ui-dist\/(?:swagger-ui-es-bundle.*|swagger-ui|log\..*)\.(?:js|txt)$/,
];

const [root] = process.argv.slice(2);
if (root === undefined) throw new Error("Say which node_modules: node bin/prune.ts <node_modules>");

let files = 0;
let bytes = 0;
const all = readdirSync(root, { recursive: true, withFileTypes: true });
for (const entry of all) {
  const path = join(entry.parentPath, entry.name);
  // A package may have a node_modules of its own: what counts is the path in the package.
  const [, inPackage] = /^.*(?:^|\/)node_modules\/(.*)$/.exec(path.split(sep).join("/")) ?? [];
  const unused = inPackage !== undefined && UNUSED.some((pattern) => pattern.test(inPackage));
  const useless = entry.isFile() && USELESS.test(entry.name) && !LICENCE.test(entry.name);
  if (!unused && !useless) continue;
  const gone = entry.isDirectory()
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((inside) => inside.isFile())
        .map((inside) => join(inside.parentPath, inside.name))
    : [path];
  for (const file of gone) {
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) continue;
    files += 1;
    bytes += size;
  }
  rmSync(path, { recursive: true, force: true });
}
console.log(`pruned ${files} files, ${Math.round(bytes / 1024 ** 2)} MB`);
