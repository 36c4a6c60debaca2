import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/instance.ts";
import { testCli } from "../support/command-line.ts";
import { runCommand, runHere } from "../support/process.ts";

const GOOD = "name: Good\nsteps:\n  - { id: one, type: set, values: { a: 1 } }\n";

type Cli = Awaited<ReturnType<typeof testCli>>["cli"];

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

  it("saves what an editor changed as a new version, and nothing without a change", async () => {
    const { stateDir } = await testCli({ good: GOOD });
    const edit = (EDITOR: string) =>
      runCommand(["workflows", "edit", "good", "--reason", "Better"], {
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

/** Edits the workflow `good`, and replaces its text as an editor would. @param fails whether the editor then fails */
async function open(change: (text: string, cli: Cli) => string | Promise<string>, fails = false) {
  const { stateDir, cli } = await testCli({ good: GOOD });
  let edited = "";
  const editor = async (path: string): Promise<void> => {
    edited = path;
    writeFileSync(path, await change(readFileSync(path, "utf8"), cli));
    if (fails) throw new Error("no editor");
  };
  const env = { MILLRACE_STATE_DIR: stateDir };
  const result = await runHere(["workflows", "edit", "good"], env, { edit: editor });
  return { ...result, edited, cli };
}

describe("millrace workflows edit, when the text can't be saved", () => {
  it("keeps the file and says how to retry", async () => {
    const typo = "id: good\nname: Better\nsteps:\n  - { id: one, type: set\n";
    const { code, err, edited, cli } = await open(() => typo);
    expect(code).toBe(1);
    expect(err).toContain("good can't be saved:");
    expect(err).toContain(`\nYour text is in ${edited}. Retry with --file ${edited}.\n`);
    expect(readFileSync(edited, "utf8")).toBe(typo);
    writeFileSync(edited, typo.replace("set", "set, values: { a: 2 } }"));
    expect((await cli("workflows", "edit", "good", "--file", edited)).out).toContain("Saved version 2");
  });

  it("keeps it when somebody else saved meanwhile, and when the editor failed after it was changed", async () => {
    const conflict = await open(async (text, cli) => {
      const other = join(temporaryDirectory(), "other.yaml");
      writeFileSync(other, text.replace("one", "other"));
      await cli("workflows", "edit", "good", "--file", other);
      return text.replace("one", "mine");
    });
    expect(conflict.err).toContain(
      `Your text is in ${conflict.edited}. Add what others changed (millrace workflows show good) to it first. Retry`,
    );
    const failed = await open((text) => text.replace("one", "mine"), true);
    expect(failed.err).toContain(`Your text is in ${failed.edited}.`);
    for (const { code, edited } of [conflict, failed]) {
      expect(code).toBe(1);
      expect(readFileSync(edited, "utf8")).toContain("id: mine");
    }
  });

  it("deletes the file after a success, without a change, and when the editor failed before one", async () => {
    const saved = await open((text) => text.replace("one", "two"));
    expect(saved).toMatchObject({ code: 0, out: expect.stringContaining("Saved version 2") });
    const same = await open((text) => text);
    const failed = await open((text) => text, true);
    expect(failed.err).not.toContain("Your text is in");
    for (const { edited } of [saved, same, failed]) expect(existsSync(edited)).toBe(false);
  });
});

describe("millrace workflows create and edit with a file", () => {
  it("refuse invalid fields of the file, with all issues, and change nothing", async () => {
    const { cli, files } = await testCli({ good: `${GOOD}description: Kept.\ntags: [kept]\n` });
    const wrong = "description: Fine.\ntags: [a, a]\ndraft: maybe\n";
    const directory = files({ wrong: `${GOOD}${wrong}` });
    for (const args of [["create"], ["edit", "good"]]) {
      const { code, err } = await cli("workflows", ...args, "--file", join(directory, "wrong.yaml"));
      expect(code).toBe(1);
      expect(err).toContain("can't be saved:\n");
      expect(err).toContain("- tags");
      expect(err).toContain("- draft");
    }
    expect(JSON.parse((await cli("workflows", "list", "--json")).out)).toMatchObject([
      { id: "good", version: 1, description: "Kept.", tags: ["kept"] },
    ]);
  });

  it("create prints the issues of the draft, and takes the id of the file", async () => {
    const { cli, files } = await testCli({ good: GOOD });
    const directory = files({ mine: `id: mine\n${GOOD.replace("type: set", "type: sett")}` });
    const file = join(directory, "mine.yaml");
    const created = await cli("workflows", "create", "--file", file);
    expect(created.out).toContain("Created mine as a draft");
    expect(created.err).toContain("Issue: steps[0].type");
    expect(await cli("workflows", "create", "--file", file)).toMatchObject({
      code: 1,
      err: expect.stringContaining("ids can't be reused"),
    });
  });

  it("edit refuses the file of another workflow", async () => {
    const { cli, files } = await testCli({ good: GOOD, other: GOOD.replace("Good", "Other") });
    const file = join(files({ other: `id: other\n${GOOD}` }), "other.yaml");
    const refused = await cli("workflows", "edit", "good", "--file", file);
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining(`millrace workflows edit other --file ${file}`),
    });
    expect(JSON.parse((await cli("workflows", "list", "--json")).out)).toMatchObject([
      { version: 1 },
      { version: 1 },
    ]);
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
    expect(await complete("runs", "c")).toEqual(["cancel"]);
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
