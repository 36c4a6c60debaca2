/**
 * `npm run build:web`: builds the web interface once for each language into one directory. Files with the same content have the same
 * name, so the languages share what has no texts. English comes last: its page is the newest file, and tells tests that all is built.
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

const OUT = fileURLToPath(new URL("../dist/web", import.meta.url));
const MESSAGES = fileURLToPath(new URL("../src/web/messages/generated", import.meta.url));
const configFile = fileURLToPath(new URL("../src/web/vite.config.ts", import.meta.url));

async function buildLanguage(language) {
  // The configuration reads it.
  process.env.MILLRACE_LANGUAGE = language;
  await build({ configFile, logLevel: "warn" });
}

/** Compresses the files with the best ratio. The server picks the encoding that the browser accepts. */
function compressFiles() {
  for (const name of readdirSync(OUT, { recursive: true, encoding: "utf8" })) {
    if (!/\.(?:js|css|svg)$/.test(name)) continue;
    const content = readFileSync(join(OUT, name));
    const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
    writeFileSync(join(OUT, `${name}.br`), brotliCompressSync(content, brotliOptions));
    writeFileSync(join(OUT, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
}

rmSync(OUT, { recursive: true, force: true });
for (const language of readdirSync(MESSAGES)) {
  if (language === "en") continue;
  await buildLanguage(language);
  renameSync(join(OUT, "index.html"), join(OUT, `index.${language}.html`));
}
await buildLanguage("en");
compressFiles();
