import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AuditEntry } from "../../schemas/audit.ts";
import { DAY, iso } from "../../src/core/clock.ts";
import {
  exportAudit,
  type AuditExportOptions,
  printAuditHead,
  verifyAudit,
} from "../../src/commands/audit.ts";
import { describeError, type Io } from "../../src/commands/io.ts";
import { purgeAuditLog } from "../../src/store/purge-audit-log.ts";
import { codeBlocksOf } from "../support/documents.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { testStore } from "../support/store.ts";

async function run(stateDir: string, command: (io: Io) => Promise<void>) {
  let [out, err, code] = ["", "", 0];
  const io: Io = {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    terminal: false,
    errTerminal: false,
    env: { MILLRACE_STATE_DIR: stateDir },
    onExit: () => {},
  };
  await command(io).catch((error: unknown) => {
    const described = describeError(error);
    err += described.message;
    code = described.exitCode;
  });
  return { code, out, err };
}

/** A state with entries, and the commands on it. */
async function open(count: number) {
  const world = await testStore();
  const { stateDir, store, write, clock } = world;
  const add = async (added: number): Promise<void> => {
    for (let n = 0; n < added; n += 1)
      await write((tx) =>
        tx.recordAudit(`tärget-${n}\u2028`, undefined, { details: { name: `"${n}"\n`, all: ["a"] } }),
      );
  };
  await add(count);
  return {
    ...world,
    add,
    change: (id: number, set: object) =>
      store.transaction((trx) => trx.updateTable("audit_log").set(set).where("id", "=", id).execute()),
    remove: (id: number) =>
      store.transaction((trx) => trx.deleteFrom("audit_log").where("id", "=", id).execute()),
    addAsOlderRelease: () =>
      store.transaction((trx) =>
        trx
          .insertInto("audit_log")
          .values({ at: iso(clock.now()), operation: "o", owner: "operator", surface: "rest", client: "c" })
          .execute(),
      ),
    purge: () =>
      store.transaction((trx) =>
        purgeAuditLog(trx, { before: iso(clock.now() - DAY), now: iso(clock.now()), limit: 100 }),
      ),
    head: async () => (await run(stateDir, printAuditHead)).out.trimEnd(),
    verify: (head?: string) => run(stateDir, (io) => verifyAudit(io, head === undefined ? {} : { head })),
    exportTo: (options: AuditExportOptions = {}) => run(stateDir, (io) => exportAudit(io, options)),
  };
}

const linesOf = (text: string) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AuditEntry);

describe("millrace audit head", () => {
  it("prints the newest id and hash", async () => {
    const { head, exportTo } = await open(3);
    const last = linesOf((await exportTo()).out).at(-1)!;
    expect(await head()).toBe(`3:${last.hash}`);
  });

  it("says that there is none", async () => {
    const { stateDir } = await open(0);
    expect(await run(stateDir, printAuditHead)).toMatchObject({ code: 1, out: "" });
  });
});

describe("millrace audit verify", () => {
  it("finds nothing wrong, and an earlier head in the log", async () => {
    const { add, head, verify } = await open(2);
    const earlier = await head();
    await add(2);
    expect(await verify(earlier)).toEqual({
      code: 0,
      out: "The audit log: 4 entries, all fit.\nEntry 2 has the given hash.\n",
      err: "",
    });
    expect(await verify()).toMatchObject({ code: 0, out: "The audit log: 4 entries, all fit.\n" });
  });

  it("fails if an entry was changed", async () => {
    const { change, verify } = await open(3);
    await change(2, { owner: "eve@example.com" });
    expect(await verify()).toMatchObject({
      code: 3,
      err: expect.stringContaining("entry 2 was changed, moved or added") as string,
    });
  });

  it("fails if the newest entries were removed, or the log was written again, or is purged", async () => {
    const world = await open(3);
    const earlier = await world.head();
    await world.remove(3);
    expect(await world.verify(earlier)).toMatchObject({
      code: 3,
      err: expect.stringContaining("no entry 3") as string,
    });
    await world.write((tx) => tx.recordAudit("another"));
    expect(await world.verify(earlier)).toMatchObject({
      code: 3,
      err: expect.stringContaining("another hash") as string,
    });
    world.clock.advance(2 * DAY);
    await world.add(1);
    await world.purge();
    expect(await world.verify(`2:${"0".repeat(64)}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining("was purged") as string,
    });
  });

  it("refuses a head that is none", async () => {
    const { verify } = await open(1);
    for (const head of ["", "1", `1:${"0".repeat(63)}`, `x:${"0".repeat(64)}`])
      expect(await verify(head)).toMatchObject({
        code: 2,
        err: expect.stringContaining("--head must be") as string,
      });
  });
});

describe("millrace audit export", () => {
  it("writes filtered entries to standard output, or all to a new file", async () => {
    const { exportTo, clock } = await open(3);
    clock.advance(DAY);
    expect(linesOf((await exportTo()).out).map(({ id }) => id)).toEqual([1, 2, 3]);
    expect((await exportTo({ until: "2026-11-21" })).out).toBe("");
    expect(await exportTo({ since: "yesterday" })).toMatchObject({
      out: "",
      err: expect.stringContaining("since") as string,
    });
    expect(await exportTo({ project: "nowhere" })).toMatchObject({
      out: "",
      err: expect.stringContaining('no project "nowhere"') as string,
    });
    const output = join(temporaryDirectory(), "audit.jsonl");
    expect(await exportTo({ output })).toMatchObject({
      code: 0,
      out: `3 audit entries written to ${output}\n`,
    });
    expect(linesOf(readFileSync(output, "utf8"))).toHaveLength(3);
    expect(statSync(output).mode & 0o777).toBe(0o600);
    expect(await exportTo({ output })).toMatchObject({
      code: 2,
      err: expect.stringContaining("already exists") as string,
    });
    const failed = join(temporaryDirectory(), "failed.jsonl");
    await exportTo({ output: failed, project: "nowhere" });
    expect([existsSync(failed), existsSync(`${failed}.part`)]).toEqual([false, false]);
  });
});

describe("the script of docs/security.md", () => {
  const script = codeBlocksOf("docs/security.md").find(({ language }) => language === "js")!.text;

  /** @returns what it prints, or its error */
  function runScript(lines: string): string {
    const file = join(temporaryDirectory(), "verify-audit-log.mjs");
    writeFileSync(file, script);
    try {
      return execFileSync(process.execPath, [file], {
        input: lines,
        encoding: "utf8",
        stdio: "pipe",
      }).trimEnd();
    } catch (error) {
      return String((error as { stderr: unknown }).stderr);
    }
  }

  it("verifies an export, with entries of older releases and after a purge", async () => {
    const world = await open(2);
    await world.addAsOlderRelease();
    await world.add(2);
    expect(runScript((await world.exportTo()).out)).toBe(await world.head());
    world.clock.advance(2 * DAY);
    await world.add(2);
    await world.purge();
    const { out } = await world.exportTo();
    expect(linesOf(out)).toHaveLength(2);
    expect(runScript(out)).toBe(await world.head());
  });

  it("finds an entry that was changed or removed", async () => {
    const { exportTo } = await open(4);
    const { out } = await exportTo();
    expect(runScript(out.replace('"operator"', '"eve"'))).toContain("Entry 1 does not fit");
    expect(runScript(out.split("\n").toSpliced(1, 1).join("\n"))).toContain("Entry 3 does not fit");
    const entries = linesOf(out);
    const unhashed = entries.with(2, { ...entries[2]!, hash: null });
    expect(runScript(unhashed.map((entry) => JSON.stringify(entry)).join("\n"))).toContain(
      "Entry 3 does not fit",
    );
  });
});
