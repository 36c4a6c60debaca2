import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it, describe } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

describe("schemas/generated", () => {
  it("matches the code", async () => {
    // The command exits with 1 and names the files that differ, so a failure shows them.
    const { stderr } = await run(process.execPath, ["bin/generate.ts", "--check"], { cwd: ROOT });
    expect(stderr).toBe("");
  });
});
