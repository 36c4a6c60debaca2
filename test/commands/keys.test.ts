import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { runHere, spawnCommand } from "../support/process.ts";

interface Listed {
  expires_at: string | null;
  revoked_at: string | null;
}

/** The commands on a state directory that does not exist yet. */
function commands(run: typeof spawnCommand = runHere) {
  const stateDir = join(temporaryDirectory(), "state");
  const keys = (...args: string[]) => run(["keys", ...args], { MILLRACE_STATE_DIR: stateDir });
  const listed = async () => JSON.parse((await keys("list", "--json")).out) as Listed[];
  return { stateDir, keys, listed };
}

const KEY = /^mill_[0-9A-Za-z]{36}$/;

describe("millrace keys", () => {
  it("creates a key in an empty state directory and prints nothing else", async () => {
    const { stateDir, keys, listed } = commands(spawnCommand);
    const { code, out, err } = await keys("create", "--name", "ci");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.trimEnd()).toMatch(KEY);
    expect(out.split("\n")).toHaveLength(2);
    expect(statSync(stateDir).mode & 0o777).toBe(0o700);
    expect(existsSync(join(stateDir, "millrace.db"))).toBe(true);
    expect(await listed()).toMatchObject([
      {
        name: "ci",
        owner: "operator",
        last_four: out.trimEnd().slice(-4),
        scopes: ["read", "write", "publish", "run"],
        expires_at: null,
        revoked_at: null,
      },
    ]);
  });

  it("never shows the value of a key again, in any list", async () => {
    const { stateDir, keys } = commands();
    const value = (await keys("create", "--name", "ci")).out.trim();
    const [plain, json] = [await keys("list"), await keys("list", "--json")];
    for (const { out } of [plain, json]) {
      expect(out).toContain(value.slice(-4));
      expect(out).not.toContain(value.slice(5, 20));
    }
    const instance = await testInstance({ stateDir });
    const call = apiClient((await instance.rest()).url, value);
    expect((await call("GET", "/workflows")).status).toBe(200);
  });

  it("accepts scopes and a last day, which ends at midnight UTC", async () => {
    const { keys } = commands();
    const { out } = await keys(
      "create",
      "--name",
      "ci",
      "--scope",
      "run",
      "--expires",
      "2099-01-31",
      "--json",
    );
    expect(JSON.parse(out)).toMatchObject({
      value: expect.stringMatching(KEY),
      scopes: ["read", "run"],
      expires_at: "2099-02-01T00:00:00.000Z",
    });
  });

  it("limits a key, lists how, and says in words what it can do", async () => {
    const { keys, listed } = commands();
    expect((await keys("list")).out).not.toContain("LIMITS");
    const args = ["--name", "limited", "--scope", "run", "--tool", "run_workflow", "--tool", "get_run"];
    const { code, out, err } = await keys("create", ...args, "--json");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const limits = { tools: ["run_workflow", "get_run"] };
    expect(JSON.parse(out)).toMatchObject({ value: expect.stringMatching(KEY), limits });
    expect(await listed()).toMatchObject([{ name: "limited", limits }]);
    expect((await keys("list")).out).toMatch(/LIMITS[\s\S]*2 tools/);
    const shown = await keys("show", "limited");
    expect(shown.out).toContain("It can run every workflow, drafts and old versions too.");
    expect(shown.out).toContain(
      "All of this only with run_workflow and get_run: every other operation is refused, except to describe itself.",
    );
    expect(shown.out).toContain("It cannot change or publish anything.");
    expect(shown.out).not.toMatch(/project/i);
    const rotated = await keys("rotate", "limited");
    expect(rotated.code).toBe(0);
    expect((await listed())[1]).toMatchObject({ limits });
    const wrong = await keys("create", "--name", "x", "--tool", "run_workflo", "--database", "shopp");
    expect(wrong.code).not.toBe(0);
    expect(wrong.err).toContain("run_workflow");
    expect(wrong.err).toContain("--database is not the name of a database, got shopp");
  });

  it.each(["pay\u202Eroll", "a\u200Db", "Pay\uFE0Froll", " ", "a".repeat(101), "a\nb"])(
    "makes no key with the name %j, as the API does not",
    async (name) => {
      const { code, err } = await commands().keys("create", "--name", name);
      expect([code, err]).toEqual([2, expect.stringContaining("--name must ")]);
    },
  );

  it("rotates a key by name: the new key has the same scopes, and the old one works for the overlap", async () => {
    const { keys, listed } = commands();
    const old = JSON.parse((await keys("create", "--name", "ci", "--scope", "admin", "--json")).out);
    const { code, out, err } = await keys("rotate", "ci", "--overlap", "30m");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.trimEnd()).toMatch(KEY);
    const [first, second] = await listed();
    expect(second).toMatchObject({ name: "ci", scopes: old.scopes, expires_at: null });
    const lives = Date.parse(first!.expires_at!) - Date.now();
    expect(lives).toBeGreaterThan(29 * 60_000);
    expect(lives).toBeLessThanOrEqual(30 * 60_000);
  });

  it("revokes a key by name, by id and by its value, and says if it was already revoked", async () => {
    const { keys, listed } = commands();
    const made = [];
    for (const name of ["a", "b", "c"])
      made.push(JSON.parse((await keys("create", "--name", name, "--json")).out));
    for (const which of ["a", made[1].id, made[2].value]) {
      const { code, out } = await keys("revoke", which);
      expect(code).toBe(0);
      expect(out).toMatch(/^Revoked key_/);
    }
    for (const key of await listed()) expect(key.revoked_at).not.toBeNull();
    expect((await keys("revoke", "a")).out).toContain("was already revoked");
    expect(await keys("rotate", "a")).toMatchObject({ code: 1, out: "" });
  });

  it("asks for an id if several keys have the name, and suggests a similar name if none has it", async () => {
    const { keys } = commands();
    const ids = [];
    for (const name of ["deploy", "deploy"])
      ids.push(JSON.parse((await keys("create", "--name", name, "--json")).out).id);
    const several = await keys("revoke", "deploy");
    expect(several.code).toBe(1);
    for (const id of ids) expect(several.err).toContain(id);
    expect(await keys("revoke", "deplyo")).toMatchObject({
      code: 1,
      err: expect.stringContaining("Did you mean deploy?"),
    });
    // A key of another instance: well formed, unknown here.
    const other = (await commands().keys("create", "--name", "other")).out.trim();
    const unknown = await keys("revoke", other);
    expect(unknown.code).toBe(1);
    expect(unknown.err).not.toContain(other);
  });

  it("says how to create a key if there are none", async () => {
    const { keys, stateDir } = commands();
    await testInstance({ stateDir });
    expect(await keys("list")).toMatchObject({ code: 0, out: expect.stringContaining("keys create") });
    expect((await keys("list", "--json")).out.trim()).toBe("[]");
  });
});
