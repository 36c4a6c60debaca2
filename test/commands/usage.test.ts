import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";
import { runCommand, runHere, startProgram } from "../support/process.ts";
import { PROGRAM } from "../support/built.ts";

const inState = (args: readonly string[], env: Record<string, string> = {}) =>
  runCommand(args, { MILLRACE_STATE_DIR: join(temporaryDirectory(), "state"), ...env });

const inStateHere = (args: readonly string[]) =>
  runHere(args, { MILLRACE_STATE_DIR: join(temporaryDirectory(), "state") });

async function portInUse(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe("the command line", () => {
  it.each([
    [["serv"], "Did you mean serve?"],
    [["mcp"], "unknown command 'mcp'"],
    [["keys", "creat"], "Did you mean create?"],
    [["serve", "--prot", "3"], "Did you mean --port?"],
    [["serve", "extra"], "too many arguments"],
    [["serve", "--port", "abc"], "an integer from 0 to 65535"],
    [["serve", "--port", "65536"], "an integer from 0 to 65535"],
    [["serve", "--port", "-1"], "an integer from 0 to 65535"],
    [["serve", "--port"], "argument missing"],
    [["serve", "--auth-mode", "none"], "Allowed choices are built-in"],
    [["mcp-sse", "--auth-mode", "built-in"], "unknown option '--auth-mode'"],
    [["serve", "--drain-delay", "1.5"], "an integer from 0 to 3600"],
    [["keys", "create"], "required option '--name <name>'"],
    [["keys", "create", "--name", " "], "--name must not be empty"],
    [["keys", "create", "--name", "ci", "--scope", "wirte"], "Did you mean write?"],
    [
      ["keys", "create", "--name", "ci", "--expires", "2027-02-30"],
      "--expires must be a date, got 2027-02-30",
    ],
    [
      ["keys", "create", "--name", "ci", "--expires", "2020-01-01"],
      "--expires must be in the future, got 2020-01-01",
    ],
    [["keys", "rotate", "ci", "--overlap", "2 weeks"], "--overlap must be a duration, got 2 weeks"],
    [["keys", "revoke"], "missing required argument 'key'"],
    [["run"], "missing required argument 'workflow'"],
    [["run", "x", "--version", "0"], "an integer from 1"],
    [["runs", "--limit", "many"], "an integer from 1"],
    [["workflows", "aply", "x"], "Did you mean apply?"],
    [["worker", "--slots", "0"], "an integer from 1"],
  ])("refuses %j with exit code 2 and a hint", async (args, expected) => {
    const { code, out, err } = await inStateHere(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(expected);
    expect(err).not.toMatch(/\n\s+at /);
  });

  it("prints help without arguments, with --help and for a command, and prints the version", async () => {
    const [bare, help, ofServe, version] = await Promise.all([
      inState([]),
      inState(["--help"]),
      inState(["serve", "--help"]),
      inState(["--version"]),
    ]);
    expect(bare).toMatchObject({ code: 2, out: "" });
    expect(bare.err).toContain("Usage: millrace");
    expect(help).toMatchObject({ code: 0, err: "" });
    for (const word of [
      "start",
      "serve",
      "mcp-sse",
      "worker",
      "run",
      "runs",
      "workflows",
      "keys",
      "check",
      "MILLRACE_STATE_DIR",
      "Exit codes",
    ])
      expect(help.out).toContain(word);
    expect(ofServe.out).toContain("--auth-mode");
    expect(version).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it.each(["serve", "mcp-sse"])("exits %s with 5 and names the port if it is in use", async (command) => {
    const port = await portInUse();
    const { code, out, err } = await inState([command, "--port", String(port)]);
    expect({ code, out }).toEqual({ code: 5, out: "" });
    expect(err).toContain(`Port ${port} is already in use. Choose another with --port`);
    expect(err).not.toMatch(/\n\s+at /);
  });

  it("exits start with 5 if one of its ports is in use, and leaves no process running", async () => {
    const port = await portInUse();
    const { code, err } = await inState(["start", "--port", "0", "--mcp-port", String(port)]);
    expect(code).toBe(5);
    expect(err).toContain(`Port ${port} is already in use`);
    expect(err).toContain("mcp-sse ended with 5. The other server was stopped too.");
  });

  it("exits with 5 for an address that this machine does not have", async () => {
    const { code, err } = await inState(["serve", "--port", "0", "--host", "192.0.2.1"]);
    expect(code).toBe(5);
    expect(err).toContain("Choose another with --host");
  });

  it("exits with 3 if the configuration file does not exist", async () => {
    const { code, err } = await inState(["serve", "--config", "/nowhere/config.yaml", "--port", "0"]);
    expect(code).toBe(3);
    expect(err).toBe("/nowhere/config.yaml: cannot be read: there is no such file\n");
  });

  it("exits with 3 and lists all issues of the configuration with their lines", async () => {
    const file = join(temporaryDirectory(), "config.yaml");
    writeFileSync(
      file,
      "databases:\n  - name: shop\n    type: sqlit\n    dataset: shop.db\ndefaults:\n  databse: shop\n",
    );
    for (const command of ["serve", "mcp-sse", "start"]) {
      const { code, err } = await inState([command, "--config", file, "--port", "0"]);
      expect(code).toBe(3);
      expect(err).toContain(`${file}:3:`);
      expect(err).toContain("did you mean sqlite?");
      expect(err).toContain(`${file}:6:`);
      expect(err).toContain("did you mean database?");
    }
  });

  it("exits with 3 for an invalid environment variable", async () => {
    const { code, err } = await inState(["serve", "--port", "0"], { MILLRACE_LOG_LEVEL: "loud" });
    expect(code).toBe(3);
    expect(err).toContain("MILLRACE_LOG_LEVEL");
  });

  it("ends quietly if the program that reads its output has ended", () => {
    const { stderr } = spawnSync("sh", ["-c", '"$0" "$1" keys --help | true', process.execPath, PROGRAM], {
      encoding: "utf8",
    });
    expect(stderr).toBe("");
  });

  it("writes no escape codes without a terminal", async () => {
    const stateDir = temporaryDirectory();
    const outputs = await Promise.all(
      [["--help"], ["keys", "list"], ["check"], ["serv"]].map((args) =>
        runCommand(args, { MILLRACE_STATE_DIR: stateDir }),
      ),
    );
    // oxlint-disable-next-line no-control-regex
    for (const { out, err } of outputs) expect(out + err).not.toMatch(/\u001b/);
  });

  it("listens on 127.0.0.1 if MILLRACE_HOST is empty, and refuses an empty --host", async () => {
    const stateDir = temporaryDirectory();
    const { log } = await startProgram("serve", stateDir, { env: { MILLRACE_HOST: "" } });
    expect(log()).toContain("listening on http://127.0.0.1:");
    const { code, err } = await runCommand(["serve", "--host", ""], { MILLRACE_STATE_DIR: stateDir });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("It must not be empty.") });
  });
});
