import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CheckResult } from "../../src/commands/doctor/check-result.ts";
import { openExclusively } from "../../src/store/exclusive-source.ts";
import { databaseFileIn } from "../../src/store/state-directory.ts";
import { testCli } from "../support/command-line.ts";
import { temporaryDirectory } from "../support/directories.ts";
import { freePort } from "../support/postgres.ts";
import { runCommand } from "../support/process.ts";

const TO = "workflows at db.example.com:5432";
const SUM = "name: Sum\nsteps:\n  - { id: sum, type: set, values: { total: 3 } }\n";

/** A state that was moved to PostgreSQL, and the commands on it. */
async function movedState() {
  const { stateDir } = await testCli({ sum: SUM });
  const databaseFile = databaseFileIn(stateDir);
  const source = openExclusively({ databaseFile });
  source.markMoved(TO);
  source.close();
  return {
    stateDir,
    databaseFile,
    target: join(temporaryDirectory(), "target"),
    cli: (...args: string[]) => runCommand(args, { MILLRACE_STATE_DIR: stateDir }),
    bytes: () => readdirSync(stateDir).map((name) => [name, readFileSync(join(stateDir, name), "base64")]),
  };
}

/** The commands with the options of their ports, so that they find no other programs of this machine. */
const withPorts = async (command: string): Promise<string[]> => [
  command,
  "--port",
  String(await freePort()),
  "--mcp-port",
  String(await freePort()),
];

const COMMANDS = [
  ["runs", "list"],
  ["workflows", "list"],
  ["keys", "create", "--name", "ci"],
  ["users", "list"],
  ["audit", "verify"],
  ["storage"],
  ["run", "sum"],
  ["export", "TARGET"],
  ["workflows", "export", "TARGET"],
  ["backup", "TARGET"],
  ["serve", "--port", "0"],
  ["mcp-sse", "--port", "0"],
  ["start", "--port", "0", "--mcp-port", "0"],
  ["worker"],
  ["migrate-state", "--to", "postgres://user:s3cret@db.example.com/workflows"],
];

describe("commands on a state that was moved to PostgreSQL", () => {
  it.each(COMMANDS.map((args) => [args.join(" "), args] as const))(
    "exit with 4, say where it is and what to do, and change nothing: %s",
    async (_, args) => {
      const { stateDir, target, cli, bytes } = await movedState();
      const before = bytes();
      const { code, out, err } = await cli(...args.map((arg) => (arg === "TARGET" ? target : arg)));
      expect({ code, out }).toEqual({ code: 4, out: "" });
      expect(err).toContain(`moved to PostgreSQL (${TO})`);
      expect(err).toContain("Set MILLRACE_DATABASE_URL");
      expect(err).toContain(`millrace migrate-state --reopen with MILLRACE_STATE_DIR=${stateDir}`);
      expect(err).not.toContain("s3cret");
      expect(existsSync(target)).toBe(false);
      expect(bytes()).toEqual(before);
    },
  );

  it.each(["doctor", "check"])("are refused by %s with an error of its own", async (command) => {
    const { stateDir, cli } = await movedState();
    const args = command === "doctor" ? await withPorts(command) : [command];
    const { code, out } = await cli(...args, "--json");
    const results = JSON.parse(out) as CheckResult[];
    expect(results.filter(({ status }) => status === "error")).toEqual([
      {
        group: "State",
        check: "database",
        status: "error",
        detail: `the state was moved to PostgreSQL (${TO})`,
        fix: expect.stringMatching(
          `^Set MILLRACE_DATABASE_URL .* millrace migrate-state --reopen with MILLRACE_STATE_DIR=${stateDir}\\.$`,
        ) as string,
      },
    ]);
    // What the old state holds says nothing about the installation.
    const checks = results.map(({ check }) => check);
    for (const name of ["journal mode", "migrations", "integrity", "audit log", "executors", "queue_age"])
      expect(checks).not.toContain(name);
    expect(code).toBe(3);
  });

  it("doctor --full verifies nothing of it", async () => {
    const { cli } = await movedState();
    const { code, out } = await cli(...(await withPorts("doctor")), "--full", "--json");
    const checks = (JSON.parse(out) as CheckResult[]).map(({ check }) => check);
    for (const name of ["integrity", "audit log", "stored bytes"]) expect(checks).not.toContain(name);
    expect(code).toBe(3);
  });

  it("restore refuses a copy of it, and creates no state", async () => {
    const { databaseFile } = await movedState();
    const directory = temporaryDirectory();
    const copy = join(directory, "copy.db");
    cpSync(databaseFile, copy);
    const stateDir = join(directory, "state");
    const { code, out, err } = await runCommand(["restore", copy], { MILLRACE_STATE_DIR: stateDir });
    expect({ code, out }).toEqual({ code: 4, out: "" });
    expect(err).toContain(`${copy} is a copy of a state that was moved to PostgreSQL (${TO})`);
    expect(err).toContain("pg_restore");
    expect(readdirSync(stateDir)).toEqual([]);
  });

  it("work again after migrate-state --reopen", async () => {
    const { target, cli } = await movedState();
    expect((await cli("migrate-state", "--reopen")).code).toBe(0);
    expect((await cli("backup", target)).code).toBe(0);
    expect((await cli(...(await withPorts("doctor")))).code).toBe(0);
    expect((await cli("run", "sum")).code).toBe(0);
  });
});
