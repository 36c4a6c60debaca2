/** Builds the program, as a release runs it, and the web interface for the tests that start them. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

const PREPARE = fileURLToPath(new URL("../../bin/prepare.js", import.meta.url));

/** Starts the built program: `node PROGRAM serve`. */
export const PROGRAM = fileURLToPath(new URL("program.js", import.meta.url));

/** Builds both before a run of vitest, if a source is newer. */
export default function build({ provide }: Pick<TestProject, "provide">): void {
  execFileSync(process.execPath, [PREPARE], { stdio: ["ignore", "inherit", "inherit"] });
  provide("isBuilt", true);
}
