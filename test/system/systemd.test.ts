/** The systemd units, checked by systemd's tools; and the program under their restrictions. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { PROGRAM } from "../support/built.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { DEPLOY_DIRECTORY } from "../support/manifests.ts";
import { runCommand } from "../support/process.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const UNITS = [
  "millrace-web.service",
  "millrace-mcp.service",
  "millrace-backup.service",
  "millrace-backup.timer",
];
const SERVICES = UNITS.filter((name) => name.endsWith(".service"));
const COMMON = "millrace-.service.d/10-common.conf";

/** The shipped files, with this machine's Node and checkout in place of the installed ones. */
function units(change: (name: string, text: string) => string = (_, text) => text): string {
  const directory = join(temporaryDirectory(), "units");
  cpSync(join(DEPLOY_DIRECTORY, "systemd"), directory, { recursive: true });
  for (const name of [...UNITS, COMMON]) {
    const path = join(directory, name);
    const text = readFileSync(path, "utf8")
      .replaceAll("/usr/bin/node", process.execPath)
      .replaceAll("/opt/millrace/", ROOT);
    writeFileSync(path, change(name, text));
  }
  return directory;
}

function verify(directory: string): string {
  const { status, stdout, stderr } = spawnSync(
    "systemd-analyze",
    ["verify", ...UNITS.map((name) => `./${name}`)],
    {
      cwd: directory,
      encoding: "utf8",
      // Excludes this machine's own units, which may be invalid.
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${directory}:/lib/systemd/system` },
    },
  );
  return `${status === 0 ? "" : `ended with ${status}: `}${stdout}${stderr}`;
}

/** From 0 (nothing is open) to 10. */
function exposure(directory: string, name: string): number {
  const { stdout } = spawnSync("systemd-analyze", ["security", "--offline=true", `./${name}`], {
    cwd: directory,
    encoding: "utf8",
  });
  return Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)![1]);
}

/** The values of a setting in a unit and in the shared drop-in. */
function setting(name: string, key: string): string[] {
  const texts = [name, COMMON].map((file) => readFileSync(join(DEPLOY_DIRECTORY, "systemd", file), "utf8"));
  return texts.flatMap((text) =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map((found) => found[1]!),
  );
}

/** Expands a list of `@sets` and names to system calls. */
function callsOf(...names: string[]): Set<string> {
  const sets = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of execFileSync("systemd-analyze", ["syscall-filter"], { encoding: "utf8" }).split("\n")) {
    if (line.startsWith("@")) sets.set(line.trim(), (current = []));
    else if (/^ {4}[@\w]/.test(line)) current.push(line.trim());
    else if (/^\S/.test(line)) current = [];
  }
  const all = (name: string): string[] => (name.startsWith("@") ? sets.get(name)!.flatMap(all) : [name]);
  return new Set(names.flatMap(all));
}

describe("the systemd units", () => {
  it("pass systemd's verification, with and without secrets", () => {
    const directory = units();
    expect(verify(directory)).toBe("");
    const secrets = join(directory, "millrace-.service.d/20-secrets.conf");
    renameSync(`${secrets}.example`, secrets);
    expect(verify(directory)).toBe("");
  });

  it.each([
    ["an unknown setting", COMMON, "ProtectHome=", "ProtectHomes="],
    ["an invalid value", COMMON, "KillMode=mixed", "KillMode=most"],
    ["a missing program", "millrace-web.service", process.execPath, "/nowhere/node"],
    ["an invalid time", "millrace-backup.timer", "02:30:00", "26:30:00"],
  ])("would fail that verification with %s", (_, file, right, wrong) => {
    const broken = units((name, text) => (name === file ? text.replace(right, wrong) : text));
    expect(verify(broken)).not.toBe("");
  });

  it.each(SERVICES)("%s has no access that it does not need", (name) => {
    expect(exposure(units(), name)).toBeLessThanOrEqual(1.5);
    // The shared drop-in does it.
    const open = units((file, text) => (file === COMMON ? text.replace("PrivateUsers=yes", "") : text));
    expect(exposure(open, name)).toBeGreaterThan(exposure(units(), name));
  });

  it.each(["millrace-web.service", "millrace-mcp.service"])(
    "%s has time to drain, and ends its own executors",
    (name) => {
      const [command] = setting(name, "ExecStart") as [string];
      const drain = Number(/--drain-delay (\d+)/.exec(command)![1]);
      // Requests in flight get 10 s, executors 15 s (src/commands/executors.ts).
      expect(Number(setting(name, "TimeoutStopSec")[0])).toBeGreaterThanOrEqual(drain + 10 + 15);
      expect(setting(name, "KillMode")).toEqual(["mixed"]);
      expect(setting(name, "Restart")).toEqual(["always"]);
      // Exit codes of wrong usage and wrong configuration (src/commands/io.ts).
      expect(setting(name, "RestartPreventExitStatus")).toEqual(["2 3"]);
      expect(setting(name, "MemoryDenyWriteExecute")).toEqual(["no"]);
    },
  );

  it("create the user that they name", () => {
    const file = join(DEPLOY_DIRECTORY, "systemd/millrace.sysusers.conf");
    const { status, stderr } = spawnSync("systemd-sysusers", ["--dry-run", file], { encoding: "utf8" });
    expect({ status, stderr }).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("'millrace'") as string,
    });
    for (const name of SERVICES) expect(setting(name, "User")).toEqual(["millrace"]);
  });

  it("allow every system call of the program", async () => {
    const allowed = callsOf("@system-service");
    for (const name of callsOf("@privileged")) allowed.delete(name);
    // Without root privileges, because SQLite changes the owner of files if it can.
    const nobody = { uid: 1000, gid: 1000 };
    const directory = temporaryDirectory();
    chownSync(directory, nobody.uid, nobody.gid);
    const trace = join(directory, "calls");
    const env = {
      ...process.env,
      MILLRACE_STATE_DIR: join(directory, "state"),
      TMPDIR: directory,
      HOME: directory,
    };
    const strace = ["-f", "-qq", "-c", "-U", "name", "-o", trace];
    const program = [process.execPath, PROGRAM];
    const child = spawn("strace", [...strace, ...program, "start", "--port", "0", "--mcp-port", "0"], {
      ...nobody,
      cwd: ROOT,
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = once(child, "exit");
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
    await eventually(() => out.includes("Ctrl-C") || undefined, "both servers to listen", 90_000);
    // SQLite and DuckDB in their child processes, all under strace: the servers' executors take the runs.
    const [node, ...rest] = program;
    for (const id of ["weekly-revenue", "plan-and-sales"])
      execFileSync(node!, [...rest, "run", id], { ...nobody, cwd: ROOT, env, stdio: "ignore" });
    const [traced] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").split(" ");
    process.kill(Number(traced), "SIGTERM");
    await ended;
    const calls = readFileSync(trace, "utf8")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => /^\w+$/.test(line));
    expect(calls).toEqual(expect.arrayContaining(["execve", "fsync", "listen"]));
    expect(calls.filter((name) => !allowed.has(name) && name !== "syscall" && name !== "total")).toEqual([]);
  });

  it("make backups with a working command, and keep two weeks", async () => {
    const state = temporaryDirectory();
    mkdirSync(join(state, "millrace"), { mode: 0o700 });
    mkdirSync(join(state, "millrace-backups"), { mode: 0o700 });
    const env = { MILLRACE_STATE_DIR: join(state, "millrace") };
    expect(await runCommand(["keys", "create", "--name", "t"], env)).toMatchObject({ code: 0 });
    const old = join(state, "millrace-backups/2020-01-01T000000Z.backup");
    writeFileSync(old, "");
    chmodSync(old, 0o600);
    utimesSync(old, 1, 1);

    const directory = units();
    const text = readFileSync(join(directory, "millrace-backup.service"), "utf8");
    for (const [, command] of text.matchAll(/^ExecStart(?:Post)?=(.*)$/gm)) {
      // As systemd reads it: systemd.unit(5), "Specifiers"; systemd.service(5), "Command lines".
      const line = command!
        .replaceAll(/%(.)/g, (_, letter) => (letter === "S" ? state : "%"))
        .replaceAll("$$", "$");
      execFileSync("sh", ["-c", line], { env: { ...process.env, ...env }, stdio: "ignore" });
    }
    const [made, ...others] = readdirSync(join(state, "millrace-backups"));
    expect(others).toEqual([]);
    expect(made).toMatch(/^\d{4}-\d\d-\d\dT\d{6}Z\.backup$/);
    expect(existsSync(old)).toBe(false);
    expect(statSync(join(state, "millrace-backups", made!)).mode & 0o777).toBe(0o600);
  });
});
