import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";
import { openRest } from "../support/rest.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

const PROGRAM = `
import { createClient, MillraceError, type Schemas } from "millrace-client";
const client = createClient({ url: process.argv[2]!, key: process.argv[3]! });
const { data } = await client.post("/workflows", { body: { name: "Packed" } });
const id: string = data.id;
const all: Schemas.Workflow[] = [];
for await (const workflow of client.list("/workflows")) all.push(workflow);
// @ts-expect-error -- an unknown path
client.get("/nothing").catch((error: unknown) => error instanceof MillraceError);
console.log(id, all.length);
`;

describe("the package millrace-client", () => {
  it("can be packed, installed and imported by a stranger, with types", async () => {
    const { url, key } = await openRest();
    const directory = temporaryDirectory();
    const { stdout: packed } = await run("npm", ["pack", "--json", "--pack-destination", directory], {
      cwd: join(ROOT, "packages/client"),
    });
    const [{ filename, files }] = JSON.parse(packed.slice(packed.indexOf("["))) as [
      { filename: string; files: { path: string }[] },
    ];
    expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(["README.md", "package.json"]));
    const installed = join(directory, "node_modules/millrace-client");
    mkdirSync(installed, { recursive: true });
    await run("tar", ["-xzf", join(directory, filename), "-C", installed, "--strip-components", "1"]);
    writeFileSync(join(directory, "package.json"), '{"type":"module"}');
    writeFileSync(join(directory, "program.ts"), PROGRAM);
    for (const name of ["@types", "undici-types"])
      symlinkSync(join(ROOT, "node_modules", name), join(directory, "node_modules", name));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--types", "node"];
    await run(process.execPath, [tsc, ...options, "--exactOptionalPropertyTypes", "program.ts"], {
      cwd: directory,
    });
    const { stdout } = await run(process.execPath, ["program.ts", url, key], { cwd: directory });
    expect(stdout).toBe("packed 1\n");
  });
});
