import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { SecretCommand } from "../../schemas/secret-command.ts";
import { openSecrets, type Secrets, type SecretsOptions } from "../../src/config/secrets.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { secretFiles } from "../support/secrets.ts";
import { patiently } from "../support/patience.ts";

let directory: string;
beforeEach(() => void (directory = temporaryDirectory()));

/** Collects what is reported about secrets. */
function eventsOf(secrets: Secrets): string[] {
  const events: string[] = [];
  secrets.listen({
    onReplaced: (variable) => events.push(`${variable} replaced`),
    onFailure: (reason) => events.push(reason),
    onRecovered: (variable) => events.push(`${variable} recovered`),
  });
  return events;
}

describe("a secret in a file", () => {
  it("has the new value as soon as the file was replaced and a second has passed", () => {
    const { secrets, replace, advance } = secretFiles({ APP_TOKEN: "first\n" });
    const events = eventsOf(secrets);
    expect(secrets.get("APP_TOKEN")).toBe("first");
    replace("APP_TOKEN", "second\n");
    advance(999);
    expect(secrets.get("APP_TOKEN")).toBe("first");
    const { length } = events;
    advance(1);
    const before = secrets.formerValues("APP_TOKEN");
    expect([secrets.get("APP_TOKEN"), before, length]).toEqual(["second", [], 0]);
    expect([secrets.formerValues("APP_TOKEN"), events]).toEqual([["first"], ["APP_TOKEN replaced"]]);
  });

  it("has the new value at once after a refusal", async () => {
    const { secrets, replace } = secretFiles({ APP_TOKEN: "first" });
    expect(secrets.get("APP_TOKEN")).toBe("first");
    replace("APP_TOKEN", "second");
    await secrets.reread(["APP_TOKEN"]);
    expect(secrets.get("APP_TOKEN")).toBe("second");
  });

  it("has the new value when the file is written again in the same moment, with the same size", () => {
    const { secrets, path, advance } = secretFiles({ APP_TOKEN: "first" });
    const written = new Date();
    utimesSync(path("APP_TOKEN"), written, written);
    advance(1_000);
    expect(secrets.get("APP_TOKEN")).toBe("first");
    writeFileSync(path("APP_TOKEN"), "other");
    utimesSync(path("APP_TOKEN"), written, written);
    advance(1_000);
    expect(secrets.get("APP_TOKEN")).toBe("other");
  });

  it("follows the link that Kubernetes replaces", () => {
    const volume = (name: string, value: string): void => {
      mkdirSync(join(directory, name));
      writeFileSync(join(directory, name, "token"), value);
    };
    volume("..2026_01", "first");
    symlinkSync("..2026_01", join(directory, "..data"));
    symlinkSync("..data/token", join(directory, "link"));
    let time = 0;
    const secrets = openSecrets({ APP_TOKEN_FILE: join(directory, "link") }, ["APP_TOKEN"], {
      now: () => time,
    });
    expect(secrets.get("APP_TOKEN")).toBe("first");
    volume("..2026_02", "second");
    symlinkSync("..2026_02", join(directory, "..data_tmp"));
    renameSync(join(directory, "..data_tmp"), join(directory, "..data"));
    time += 1_000;
    expect(secrets.get("APP_TOKEN")).toBe("second");
  });

  it.each([
    ["empty", "", "is empty"],
    ["larger than 64 KiB", "x".repeat(64 * 1024 + 1), "is larger than 64 KiB"],
    ["not text", "a\0b", "is not UTF-8 text"],
    ["gone", undefined, "cannot be read: there is no such file"],
  ])("keeps its last value while the file is %s, and reports that once", (_, contents, why) => {
    const { secrets, replace, remove, advance } = secretFiles({ APP_TOKEN: "first" });
    const events = eventsOf(secrets);
    if (contents === undefined) remove("APP_TOKEN");
    else replace("APP_TOKEN", contents);
    for (let second = 0; second < 3; second += 1) {
      advance(1_000);
      expect([secrets.get("APP_TOKEN"), secrets.missingReason("APP_TOKEN")]).toEqual(["first", null]);
    }
    expect(events).toEqual([`the file that APP_TOKEN_FILE names ${why}`]);
    replace("APP_TOKEN", "first");
    advance(1_000);
    expect([secrets.get("APP_TOKEN"), events.at(-1)]).toEqual(["first", "APP_TOKEN recovered"]);
    replace("APP_TOKEN", "second");
    advance(1_000);
    expect([secrets.get("APP_TOKEN"), events.at(-1)]).toEqual(["second", "APP_TOKEN replaced"]);
  });

  it("has no value and a reason while there never was one, and gets it when the file appears", () => {
    const { secrets, replace, advance } = secretFiles({ APP_TOKEN: "" });
    expect([secrets.get("APP_TOKEN"), secrets.missingReason("APP_TOKEN")]).toEqual([
      undefined,
      `the file that APP_TOKEN_FILE names is empty`,
    ]);
    replace("APP_TOKEN", "first");
    advance(1_000);
    expect([secrets.get("APP_TOKEN"), secrets.missingReason("APP_TOKEN")]).toEqual(["first", null]);
  });

  it("remembers its last sixteen former values, each once", () => {
    const { secrets, replace, advance } = secretFiles({ APP_TOKEN: "value 0" });
    const set = (value: string): void => {
      replace("APP_TOKEN", value);
      advance(1_000);
      expect(secrets.get("APP_TOKEN")).toBe(value);
    };
    for (let count = 1; count <= 20; count += 1) set(`value ${count}`);
    expect(secrets.formerValues("APP_TOKEN")).toEqual(
      Array.from({ length: 16 }, (_, index) => `value ${19 - index}`),
    );
    set("value 19");
    set("value 20");
    expect(secrets.formerValues("APP_TOKEN").filter((value) => value === "value 19")).toHaveLength(1);
  });

  it("is named if every user of the machine can read it", () => {
    const { secrets, path } = secretFiles({ APP_TOKEN: "first" });
    const at = path("APP_TOKEN");
    chmodSync(at, 0o604);
    // Nobody else can enter the directory of the test.
    chmodSync(dirname(at), 0o700);
    expect(secrets.exposedFiles()).toEqual([]);
    chmodSync(dirname(at), 0o755);
    expect(secrets.exposedFiles()).toEqual([{ variable: "APP_TOKEN", path: at }]);
    chmodSync(at, 0o640);
    expect(secrets.exposedFiles()).toEqual([]);
  });
});

/** Opens secrets whose command is a Node program: `name` is its first argument. */
function commanded(program: string, given: object = {}, options: SecretsOptions & { env?: object } = {}) {
  const script = join(directory, "vault.mjs");
  writeFileSync(
    script,
    `import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
     const [name] = process.argv.slice(2);
     const file = (path) => new URL(path, import.meta.url);
     appendFileSync(file("runs"), name + "\\n");
     ${program}`,
  );
  const command = SecretCommand.parse({ command: process.execPath, args: [script, "{name}"], ...given });
  const { env = {}, ...more } = options;
  const secrets = openSecrets({ PATH: process.env["PATH"], ...env }, ["APP_TOKEN", "OTHER_TOKEN"], {
    command,
    ...more,
  });
  onTestFinished(() => secrets.close());
  const runs = (): string[] => readFileSync(join(directory, "runs"), "utf8").trim().split("\n");
  return { secrets, runs };
}

const ANSWER = `console.log("value of " + name + (existsSync(file("next")) ? ", new" : ""));`;
const rotate = (): void => writeFileSync(join(directory, "next"), "");

describe("a secret that a command gives", () => {
  it("is what the command prints for its name, without the line break", async () => {
    const { secrets } = commanded(ANSWER);
    expect([secrets.get("APP_TOKEN"), secrets.missingReason("APP_TOKEN")]).toEqual([undefined, null]);
    await secrets.load(["APP_TOKEN"]);
    expect([secrets.get("APP_TOKEN"), secrets.get("OTHER_TOKEN")]).toEqual(["value of APP_TOKEN", undefined]);
    await secrets.loadAll();
    expect(secrets.get("OTHER_TOKEN")).toBe("value of OTHER_TOKEN");
  });

  it("comes after the environment and the file", async () => {
    const path = join(directory, "token");
    writeFileSync(path, "of the file");
    const { secrets, runs } = commanded(
      ANSWER,
      {},
      { env: { APP_TOKEN_FILE: path, OTHER_TOKEN: "of the environment" } },
    );
    await secrets.loadAll();
    expect([secrets.get("APP_TOKEN"), secrets.get("OTHER_TOKEN")]).toEqual([
      "of the file",
      "of the environment",
    ]);
    expect(runs).toThrowError(/ENOENT/);
  });

  it("is read without a shell, with the environment that is named and no more", async () => {
    const { secrets } = commanded(
      `console.log(JSON.stringify([process.argv.slice(3), Object.keys(process.env).sort()]));`,
      {
        args: [join(directory, "vault.mjs"), "{name}", "$(id) 'a b'", "x/{name}/y"],
        env: ["VAULT_ADDR", "UNSET"],
      },
      { env: { VAULT_ADDR: "https://vault", VAULT_TOKEN: "not named", HOME: "/home/mill" } },
    );
    await secrets.load(["APP_TOKEN"]);
    expect(JSON.parse(secrets.get("APP_TOKEN")!)).toEqual([
      ["$(id) 'a b'", "x/APP_TOKEN/y"],
      ["HOME", "PATH", "VAULT_ADDR"],
    ]);
  });

  it("is read once for callers at the same time, and at most once a second after refusals", async () => {
    let time = 0;
    const { secrets, runs } = commanded(ANSWER, {}, { now: () => time });
    await Promise.all([
      secrets.load(["APP_TOKEN"]),
      secrets.load(["APP_TOKEN"]),
      secrets.reread(["APP_TOKEN"]),
    ]);
    expect(runs()).toEqual(["APP_TOKEN"]);
    rotate();
    time += 999;
    await secrets.reread(["APP_TOKEN"]);
    expect([runs(), secrets.get("APP_TOKEN")]).toEqual([["APP_TOKEN"], "value of APP_TOKEN"]);
    time += 1;
    await Promise.all([secrets.reread(["APP_TOKEN"]), secrets.reread(["APP_TOKEN"])]);
    expect([runs(), secrets.get("APP_TOKEN")]).toEqual([
      ["APP_TOKEN", "APP_TOKEN"],
      "value of APP_TOKEN, new",
    ]);
  });

  it("is refreshed in the background, so that nobody waits", async () => {
    const { secrets } = commanded(ANSWER, { refresh: "1s" });
    await secrets.load(["APP_TOKEN"]);
    expect(secrets.get("APP_TOKEN")).toBe("value of APP_TOKEN");
    rotate();
    await eventually(
      () => secrets.get("APP_TOKEN") === "value of APP_TOKEN, new" || undefined,
      "the new value",
    );
    expect(secrets.formerValues("APP_TOKEN")).toEqual(["value of APP_TOKEN"]);
  });

  it.each([
    ["fails", `console.log("s3cret"); process.exit(3)`, {}, "ended with exit code 3"],
    ["is killed", `console.log("s3cret"); process.kill(process.pid, "SIGKILL")`, {}, "was ended by SIGKILL"],
    [
      "hangs",
      `process.stdout.write("s3cret"); setInterval(() => {}, 1e6)`,
      { timeout: "300ms" },
      "did not end within 300ms",
    ],
    ["prints nothing", `console.log("")`, {}, "printed a value that is empty"],
    [
      "prints other bytes",
      `process.stdout.write(Buffer.from([0xff]))`,
      {},
      "printed a value that is not UTF-8 text",
    ],
    ["prints too much", `process.stdout.write("s3cret".repeat(20_000))`, {}, "printed more than 64 KiB"],
    ["is not there", ``, { command: "/nowhere/vault" }, "could not be started: its program was not found"],
    ["can't be called", ``, { args: ["\0{name}"] }, "could not be started: ERR_INVALID_ARG_VALUE"],
  ])("has a reason and no value while the command %s", async (_, program, given, why) => {
    const { secrets } = commanded(program, given);
    const events = eventsOf(secrets);
    await secrets.load(["APP_TOKEN"]);
    const reason = `secret_command ${why} when it was asked for the environment variable APP_TOKEN`;
    expect([secrets.get("APP_TOKEN"), secrets.missingReason("APP_TOKEN")]).toEqual([undefined, reason]);
    expect(events).toEqual([reason]);
  });

  it("is read again half a minute after a failure, not only at its next refresh", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { secrets, runs } = commanded(`if (!existsSync(file("next"))) process.exit(1); ${ANSWER}`, {
      refresh: "1h",
    });
    await secrets.load(["APP_TOKEN"]);
    expect(secrets.get("APP_TOKEN")).toBeUndefined();
    rotate();
    vi.advanceTimersByTime(29_999);
    expect(runs()).toHaveLength(1);
    vi.advanceTimersByTime(1);
    await eventually(() => secrets.get("APP_TOKEN"), "the value");
    expect([runs().length, secrets.missingReason("APP_TOKEN")]).toEqual([2, null]);
  });

  it("keeps its last value while the command fails", async () => {
    let time = 0;
    const { secrets } = commanded(
      `if (existsSync(file("next"))) process.exit(1); ${ANSWER}`,
      {},
      { now: () => time },
    );
    const events = eventsOf(secrets);
    await secrets.load(["APP_TOKEN"]);
    rotate();
    time += 1_000;
    await secrets.reread(["APP_TOKEN"]);
    expect([secrets.get("APP_TOKEN"), secrets.missingReason("APP_TOKEN")]).toEqual([
      "value of APP_TOKEN",
      null,
    ]);
    expect(events).toEqual([
      "secret_command ended with exit code 1 when it was asked for the environment variable APP_TOKEN",
    ]);
  });

  it("does not wait for a program that the command has left behind", async () => {
    const { secrets } = commanded(
      `const { spawn } = await import("node:child_process");
       const left = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: ["ignore", "inherit", "ignore"], detached: true });
       left.unref(); writeFileSync(file("left"), String(left.pid)); setInterval(() => {}, 1e6);`,
      { timeout: `${patiently(2)}s` },
    );
    await secrets.load(["APP_TOKEN"]);
    expect(secrets.missingReason("APP_TOKEN")).toContain(`did not end within ${patiently(2)}s`);
    process.kill(Number(readFileSync(join(directory, "left"), "utf8")), "SIGKILL");
  });

  it("ends with the process: a running command is killed", async () => {
    const { secrets } = commanded(
      `writeFileSync(file("pid"), String(process.pid)); setInterval(() => {}, 1e6)`,
    );
    const loading = secrets.load(["APP_TOKEN"]);
    const pid = await eventually(() => {
      try {
        return Number(readFileSync(join(directory, "pid"), "utf8")) || undefined;
      } catch {
        return undefined;
      }
    }, "the start of the command");
    secrets.close();
    await loading;
    const isGone = await eventually(() => {
      try {
        process.kill(pid, 0);
        return undefined;
      } catch {
        return true;
      }
    }, "the end of the command");
    expect(isGone).toBe(true);
  });
});
