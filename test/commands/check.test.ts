import { chmodSync, cpSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { CheckResult } from "../../src/commands/doctor/check-result.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { createOldState } from "../support/old-state.ts";
import { runCommand } from "../support/process.ts";

function setUp(yaml: string) {
  const directory = temporaryDirectory();
  const config = join(directory, "config.yaml");
  writeFileSync(config, yaml);
  const stateDir = join(directory, "state");
  return {
    directory,
    stateDir,
    check: (...args: string[]) =>
      runCommand(["check", "--config", config, ...args], { MILLRACE_STATE_DIR: stateDir }),
  };
}

describe("millrace check", () => {
  it("exits with 0 if everything can be used, and creates nothing", async () => {
    const { directory, stateDir, check } = setUp(
      "databases:\n  - { name: shop, type: sqlite, dataset: shop.db }\ndefaults: { database: shop }\n",
    );
    new Database(join(directory, "shop.db")).exec("create table t (a)").close();
    const { code, out, err } = await check();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^ +ok +configuration +\/.*config\.yaml$/m);
    expect(out).toMatch(/^ +ok +database shop +sqlite, read-only: answers$/m);
    expect(existsSync(stateDir)).toBe(false);
  });

  it("warns of entries that can't be used, and checks the others", async () => {
    const { directory, check } = setUp(
      "databases:\n  - { name: shop, type: nosuch, dataset: shop.db }\n  - { name: crm, type: sqlite, dataset: crm.db }\n" +
        "models:\n  - { name: gpt, vendor: nosuch, model_ref: gpt }\n",
    );
    new Database(join(directory, "crm.db")).exec("create table t (a)").close();
    const results = JSON.parse((await check("--json")).out) as CheckResult[];
    const found = results.filter(({ group }) => group === "Connections");
    expect(found.map(({ check: name, status }) => [name, status])).toEqual([
      ["database crm", "ok"],
      ["database shop", "warning"],
      ["model gpt", "warning"],
    ]);
    expect(found[1]).toMatchObject({
      detail: expect.stringContaining("not valid") as string,
      fix: expect.stringMatching(/^Correct its entry/) as string,
    });
  });

  it("names secrets without a value, whose command fails, and those that every user can read", async () => {
    const { directory, check } = setUp(
      "secrets:\n  - { name: a, key_var: A_TOKEN, hosts: [h] }\n  - { name: b, key_var: B_TOKEN, hosts: [h] }\n" +
        "  - { name: c, key_var: C_TOKEN, hosts: [h] }\n" +
        `secret_command: { command: ${process.execPath}, args: ["-e", "process.exit('{name}' === 'C_TOKEN' ? 4 : console.log('s3cret'))"] }\n`,
    );
    const token = join(directory, "token");
    writeFileSync(token, "s3cret");
    chmodSync(directory, 0o755);
    chmodSync(token, 0o644);
    const { code, out } = await check("--json");
    const results = (JSON.parse(out) as CheckResult[]).filter(({ check: name }) => name === "secrets");
    expect(results.map(({ status, detail }) => `${status}: ${detail}`)).toEqual([
      "ok: 2 variables with a value",
      "warning: secret_command ended with exit code 4 when it was asked for the environment variable C_TOKEN; it is needed by secrets: c",
    ]);
    expect([code, out]).toEqual([0, expect.not.stringContaining("s3cret")]);
    const files = await runCommand(["check", "--json", "--config", join(directory, "config.yaml")], {
      A_TOKEN_FILE: token,
      B_TOKEN_FILE: join(directory, "none"),
      MILLRACE_STATE_DIR: join(directory, "state"),
    });
    const details = (JSON.parse(files.out) as CheckResult[]).map(({ detail }) => detail);
    expect(details).toContain(
      "the file that B_TOKEN_FILE names cannot be read: there is no such file; it is needed by secrets: b",
    );
    expect(details).toContain(`every user of this machine can read ${token} (A_TOKEN_FILE)`);
  });

  it("shows the limits in force, and where each comes from", async () => {
    const { check, stateDir } = setUp("limits: { unfinished_runs: 5000, per_key: { runs_per_hour: 30 } }\n");
    const limitsOf = async () => {
      const results = JSON.parse((await check("--json")).out) as CheckResult[];
      const limits = results.filter(({ group }) => group === "Limits");
      expect(limits.every(({ status }) => status === "ok")).toBe(true);
      return Object.fromEntries(limits.map(({ check: name, detail }) => [name, detail]));
    };
    const each = "for each person and each key of the operator";
    const fresh = {
      unfinished_runs: "5,000 in total",
      min_schedule_interval: "1m",
      "per_key.runs_per_hour": `30 ${each} (configuration)`,
      "per_key.unfinished_runs": `20,000 ${each} (default)`,
      "per_key.model_tokens_per_day": "none (default)",
      "per_key.rows_per_day": "none (default)",
    };
    expect(await limitsOf()).toMatchObject(fresh);
    await testInstance({ stateDir });
    expect(await limitsOf()).toMatchObject(fresh);
    cpSync(join(createOldState(1), "millrace.db"), join(stateDir, "millrace.db"));
    for (const end of ["-wal", "-shm"]) rmSync(join(stateDir, `millrace.db${end}`), { force: true });
    expect(await limitsOf()).toMatchObject({
      "per_key.runs_per_hour": `30 ${each} (configuration)`,
      "per_key.unfinished_runs": "none (this installation is older than the default)",
      "per_key.rows_per_day": "none (default)",
    });
  });

  it("exits with 3 after all checks if a database is missing, without creating it", async () => {
    const { directory, check } = setUp(
      "databases:\n  - { name: shop, type: sqlite, dataset: shop.db }\n" +
        "models:\n  - { name: fast, vendor: openai, model_ref: m, key_var: MILLRACE_NO_SUCH_KEY }\n",
    );
    const { code, out, err } = await check("--json");
    expect(code).toBe(3);
    expect(err).toContain("Some checks found errors");
    const results = JSON.parse(out) as CheckResult[];
    expect(results.find((result) => result.check === "database shop")).toMatchObject({ status: "error" });
    expect(results.find((result) => result.check === "model fast")).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("MILLRACE_NO_SUCH_KEY"),
    });
    expect(existsSync(join(directory, "shop.db"))).toBe(false);
  });

  it("reports issues of the configuration with file and line, and those of the environment by name", async () => {
    const { check, stateDir } = setUp("databases: 3\n");
    const { code, out } = await check();
    expect(code).toBe(3);
    expect(out).toMatch(/^ +error +configuration +.*config\.yaml:1:1: databases /m);
    const unread = await runCommand(["check"], {
      MILLRACE_STATE_DIR: stateDir,
      MILLRACE_CONFIG: "/no/such/file",
    });
    expect(unread.out).toMatch(/error +configuration +\/no\/such\/file: .*\n +Correct the file/);
    const wrong = await runCommand(["check"], { MILLRACE_STATE_DIR: stateDir, MILLRACE_BASE_URL: "mill" });
    expect(wrong).toMatchObject({
      code: 3,
      out: expect.stringMatching(/error +environment +.*MILLRACE_BASE_URL/),
    });
  });
});
