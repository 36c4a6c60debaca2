import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { CheckResult } from "../../src/commands/doctor/check-result.ts";
import { temporaryDirectory } from "../support/instance.ts";
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
