/** Bundles a program of the tests as the program itself is bundled: its processes start in a third of the time. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { onTestFinished } from "vitest";
import program from "../../vite.program.config.ts";

/** Inside the project, because native modules are found in its node_modules. */
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));

/** @returns the path of the bundle, which is removed at the end of the test */
export async function bundle(source: string): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const outDir = mkdtempSync(join(CACHE, "millrace-test-"));
  onTestFinished(() => rmSync(outDir, { recursive: true }));
  await build({
    ...program,
    configFile: false,
    logLevel: "error",
    build: {
      ...program.build,
      outDir,
      rolldownOptions: { ...program.build?.rolldownOptions, input: { main: source } },
    },
  });
  return join(outDir, "main.js");
}
