import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testCli } from "../support/command-line.ts";
import { spawnCommand } from "../support/process.ts";

const GOOD = "name: Good\nsteps:\n  - { id: one, type: set, values: { a: 1 } }\n";

describe("millrace workflows", () => {
  it("lists workflows with headers, filters them, and says when there are none", async () => {
    const { cli } = await testCli({ good: GOOD, other: GOOD.replace("Good", "Other") });
    const { out } = await cli("workflows", "list", "--search", "good");
    expect(out).toMatch(/^ID +STATUS +VERSION +PUBLISHED +UPDATED +NAME\ngood +draft +1 +- .* Good\n$/);
    expect((await cli("workflows", "list", "--status", "published")).out).toContain(
      "There are no such workflows",
    );
    expect(JSON.parse((await cli("workflows", "list", "--json")).out)).toHaveLength(2);
  });

  it("shows one with its definition as YAML, and names the command that lists others", async () => {
    const { cli } = await testCli({ good: GOOD });
    expect((await cli("workflows", "show", "good")).out).toMatch(
      /^good {2}draft, version 1.*\n\n[\s\S]*id: one/,
    );
    const none = await cli("workflows", "show", "gone");
    expect(none.code).toBe(1);
    expect(none.err).toContain("millrace workflows list");
    expect(none.err).not.toContain("GET /workflows");
  });

  it("creates a draft from a name or a file", async () => {
    const { cli, directory } = await testCli();
    const file = join(directory, "good.yaml");
    writeFileSync(file, GOOD);
    expect((await cli("workflows", "create", "--name", "Empty")).out).toContain("Created empty as a draft");
    expect((await cli("workflows", "create", "--file", file)).out).toContain("Created good as a draft");
    const missing = await cli("workflows", "create", "--file", "/nonexistent.yaml");
    expect(missing).toMatchObject({ code: 2, err: "/nonexistent.yaml cannot be read: it does not exist.\n" });
    expect(await cli("workflows", "create")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--name"),
    });
  });

  it("creates a draft with the id that is given, or that of the file", async () => {
    const { cli, directory } = await testCli();
    const file = join(directory, "named.yaml");
    writeFileSync(file, `id: sales\n${GOOD}`);
    expect((await cli("workflows", "create", "--name", "每周收入", "--id", "weekly")).out).toContain(
      "Created weekly as a draft",
    );
    expect((await cli("workflows", "create", "--file", file)).out).toContain("Created sales as a draft");
    const taken = await cli("workflows", "create", "--file", file);
    expect([taken.code, taken.err]).toEqual([
      1,
      expect.stringContaining('The id "sales" is already used by the draft workflow "Good"'),
    ]);
    expect((await cli("workflows", "create", "--file", file, "--id", "sales-2")).code).toBe(0);
    const invalid = await cli("workflows", "create", "--name", "A", "--id", "Größe");
    expect(invalid.err).toContain('got "Größe"');
    expect(invalid.err).toContain("groesse");
  });

  it("applies a file whose names macOS decomposed to the workflow that it names, and says which id is missing", async () => {
    const { cli, files } = await testCli({ size: GOOD.replace("Good", "Größe") });
    const decomposed = files({ "gro\u0308ße": `id: size\n${GOOD.replace("Good", "Gro\u0308ße")}` });
    expect((await cli("workflows", "apply", decomposed, "--yes")).out).toContain("0 new, 1 changed");
    expect((await cli("workflows", "apply", decomposed, "--yes")).out).toContain("0 changed, 1 unchanged");
    expect((await cli("workflows", "list", "--search", "GRÖSSE")).out).toContain("\nsize ");
    const unnamed = await cli("workflows", "apply", files({ "E\u0301te\u0301": GOOD }, "unnamed"), "--yes");
    expect(unnamed.err).toContain("the file name is not a valid id. Add id: ete.");
    const same = await cli("workflows", "apply", files({ "Size!": GOOD, New: GOOD }, "same"), "--yes");
    expect(same.err).toContain('Add id: size if it is the existing workflow "Gro\u0308ße"');
    expect(same.err).toContain("Add id: new-workflow.");
    const joined = GOOD.replace("Good", "a\u200Db");
    const hidden = await cli("workflows", "apply", files({ hidden: joined }, "hidden"), "--yes");
    expect(hidden.err).toContain("U+200D");
    expect(hidden.err).not.toContain("name is missing");
  });

  it("create and edit print the issues and the warnings of a file", async () => {
    const { cli, files } = await testCli();
    const directory = files({
      zip: "name: Zip\nsteps:\n  - { id: one, type: set, when: 'true', values: { zip: 01067 } }\n",
      cron: 'name: Cron\nschedule: { cron: "30 2 13 * FRI" }\nsteps:\n  - { id: one, type: set, values: { n: 1 } }\n',
    });
    const created = await cli("workflows", "create", "--file", join(directory, "zip.yaml"));
    expect(created.code).toBe(0);
    expect(created.err).toContain("Issue: steps[0].when ");
    expect(created.err).toContain(
      'Warning: steps[0].values.zip is read as the number 1067, not as the text 01067. Write "01067" in quotes',
    );
    const edited = await cli("workflows", "edit", "zip", "--file", join(directory, "cron.yaml"));
    expect(edited.err).toContain("Warning: schedule.cron ");
  });

  it("saves what an editor changed as a new version, and nothing without a change", async () => {
    const { stateDir } = await testCli({ good: GOOD });
    const edit = (EDITOR: string) =>
      spawnCommand(["workflows", "edit", "good", "--reason", "Better"], {
        MILLRACE_STATE_DIR: stateDir,
        EDITOR,
      });
    expect(await edit("true")).toMatchObject({ code: 0, out: "Nothing was changed.\n" });
    expect(await edit("sed -i s/one/two/")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Saved version 2 of good"),
    });
    expect(await edit("false")).toMatchObject({ code: 1, err: expect.stringContaining("nothing was saved") });
  });
});

describe("millrace completion", () => {
  it("completes commands, subcommands, options and choices in bash", async () => {
    const { cli, directory } = await testCli();
    const script = join(directory, "completion.bash");
    writeFileSync(script, (await cli("completion", "bash")).out);
    const complete = async (...words: string[]) => {
      const { execFileSync } = await import("node:child_process");
      const line = `source ${script}; COMP_WORDS=(millrace ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _millrace; echo "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", line], { encoding: "utf8" }).trim().split(" ");
    };
    expect(await complete("backf")).toEqual(["backfill", "backfills"]);
    expect(await complete("runs", "c")).toEqual(["compare", "cancel"]);
    expect(await complete("runs", "b")).toEqual(["bulk"]);
    expect(await complete("runs", "export", "--format", "")).toEqual(["jsonl", "csv"]);
    expect(await complete("runs", "bulk", "s")).toEqual(["show", "stop"]);
    expect(await complete("runs", "bulk", "retry", "--trigger", "web")).toEqual(["web", "webhook"]);
    expect(await complete("backfill", "--dr")).toEqual(["--dry-run"]);
    expect(await complete("backfill", "nightly", "--existing", "")).toEqual([
      "skip",
      "repeat_failed",
      "repeat",
    ]);
  });

  it.each(["zsh", "fish", "powershell"])("knows the commands in %s", async (shell) => {
    const { cli } = await testCli();
    const { code, out } = await cli("completion", shell);
    expect(code).toBe(0);
    for (const word of ["backfill", "workflows", "dry-run"]) expect(out).toContain(word);
  });
});
