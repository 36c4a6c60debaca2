import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";
import { run } from "../support/process.ts";

function setUp(yaml: string) {
  const directory = temporaryDirectory();
  const config = join(directory, "config.yaml");
  writeFileSync(config, yaml);
  const env = { MILLRACE_STATE_DIR: join(directory, "state") };
  return { directory, check: (...args: string[]) => run(["check", "--config", config, ...args], env) };
}

describe("millrace check", () => {
  it("ends with 0 when all that is named can be used", async () => {
    const { directory, check } = setUp(
      "databases:\n  - { name: shop, type: sqlite, dataset: shop.db }\ndefaults: { database: shop }\n",
    );
    new Database(join(directory, "shop.db")).exec("create table t (a)").close();
    const { code, out, err } = await check();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^ok\s+configuration: /m);
    expect(out).toMatch(/^ok\s+state directory: .*journal mode /m);
    expect(out).toMatch(/^ok\s+database shop: /m);
  });

  it("ends with 3 and looks at everything when a database is missing, without making it", async () => {
    const { directory, check } = setUp(
      "databases:\n  - { name: shop, type: sqlite, dataset: shop.db }\n" +
        "models:\n  - { name: fast, vendor: openai, model_ref: m, key_var: MILLRACE_NO_SUCH_KEY }\n",
    );
    const { code, out, err } = await check("--json");
    expect(code).toBe(3);
    expect(err).toContain("Not everything can be used");
    const verdicts = JSON.parse(out) as { what: string; verdict: string; detail: string }[];
    expect(verdicts.find((verdict) => verdict.what === "database shop")).toMatchObject({ verdict: "fault" });
    expect(verdicts.find((verdict) => verdict.what === "model fast")).toMatchObject({
      verdict: "warning",
      detail: expect.stringContaining("MILLRACE_NO_SUCH_KEY"),
    });
    expect(verdicts.find((verdict) => verdict.what === "state directory")).toMatchObject({ verdict: "ok" });
    expect(() => new Database(join(directory, "shop.db"), { fileMustExist: true })).toThrow("unable to open");
  });

  it("tells faults of the configuration with file and line, and of the state beside them", async () => {
    const { directory, check } = setUp("databases: 3\n");
    writeFileSync(join(directory, "state"), "a file");
    const { code, out } = await check();
    expect(code).toBe(3);
    expect(out).toMatch(/^fault\s+configuration: .*config\.yaml:1:1: databases /m);
    expect(out).toMatch(/^fault\s+state directory: .*there is a file where the directory should be/m);
  });
});
