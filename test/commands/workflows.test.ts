import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testCli } from "../support/command-line.ts";

const HELLO = `
id: hello
name: Hello
description: Says it.
tags: [demo]
steps:
  - id: said
    type: set
    values: { text: Good morning }
`;
const CALLER = `
name: Caller
steps:
  - id: hello
    type: workflow
    workflow: hello
output: "\${{ steps.hello.output.text }}"
`;

const zeta = (name: string) =>
  `name: Zeta\nsteps:\n  - { id: a, type: set, values: { ${name}: 1 } }\noutput: { ${name}: "\${{ steps.a.${name} }}" }\n`;
const alpha = (name: string) =>
  `name: Alpha\nsteps:\n  - { id: z, type: workflow, workflow: zeta }\noutput: "\${{ steps.z.output.${name} }}"\n`;

describe("millrace workflows", () => {
  it("exports files that change nothing when applied, and are the same each time", async () => {
    const { cli, directory } = await testCli({ hello: HELLO, caller: CALLER });
    const out = join(directory, "out");
    expect((await cli("workflows", "export", out)).out).toContain("2 written, 0 unchanged");
    expect(readdirSync(out).toSorted()).toEqual(["caller.yaml", "hello.yaml"]);
    expect(readFileSync(join(out, "hello.yaml"), "utf8")).toMatch(/^id: hello\nname: Hello\n/);
    const { mtimeMs } = statSync(join(out, "hello.yaml"));
    expect((await cli("workflows", "export", out)).out).toContain("0 written, 2 unchanged");
    expect(statSync(join(out, "hello.yaml")).mtimeMs).toBe(mtimeMs);
    expect(await cli("workflows", "apply", out)).toMatchObject({
      code: 0,
      out: "0 new, 0 changed, 2 unchanged, 0 to be archived\n",
    });
  });

  it("keeps the comments of a file through apply, export, an edit by an agent and apply", async () => {
    const text =
      "# The greeting.\nsteps:\n  # Says it.\n  - id: said # once\n    type: set\n    values: { text: Good morning }\n";
    const { cli, directory, files } = await testCli();
    const file = text.replace("steps:", "id: hello\nname: Hello\nsteps:");
    expect((await cli("workflows", "apply", files({ hello: file }), "--yes")).out).toContain("1 new");
    const out = join(directory, "out");
    const exported = async () => {
      await cli("workflows", "export", out);
      return readFileSync(join(out, "hello.yaml"), "utf8");
    };
    const first = await exported();
    expect(first).toBe(file.replace("name: Hello\n", "name: Hello\ndraft: true\n"));
    expect((await cli("workflows", "apply", out)).out).toBe(
      "0 new, 0 changed, 1 unchanged, 0 to be archived\n",
    );
    const object = { steps: [{ id: "said", type: "set", values: { text: "Good evening" } }] };
    const json = join(directory, "changed.json");
    writeFileSync(json, JSON.stringify({ ...object, name: "Hello" }));
    expect((await cli("workflows", "edit", "hello", "--file", json)).out).toContain("Saved version 2");
    expect(await exported()).toBe(first.replace("Good morning", "Good evening"));
    expect((await cli("workflows", "show", "hello")).out).toContain("  # Says it.\n  - id: said # once\n");
    writeFileSync(join(out, "hello.yaml"), first.replace("once", "twice"));
    await cli("workflows", "apply", out, "--yes");
    expect(await exported()).toContain("id: said # twice");
  });

  it("exports numbers beyond 2^53 in a form that changes nothing when applied", async () => {
    const numbers =
      "{ a: 1e20, b: 100000000000000000000, c: 9007199254740993, d: 6.02214076e23, e: -1.5e18 }";
    const text = `name: Large\nsteps:\n  - { id: a, type: set, values: ${numbers} }\n`;
    const { cli, directory, files } = await testCli();
    expect((await cli("workflows", "apply", files({ large: text }), "--yes")).code).toBe(0);
    const out = join(directory, "out");
    await cli("workflows", "export", out);
    for (const given of [text, readFileSync(join(out, "large.yaml"), "utf8")]) {
      writeFileSync(join(out, "large.yaml"), given);
      expect(await cli("workflows", "apply", out)).toMatchObject({
        out: "0 new, 0 changed, 1 unchanged, 0 to be archived\n",
      });
    }
  });

  it("shows the changes, applies them only when confirmed, keeps ids, and runs the new workflows", async () => {
    const { cli, files } = await testCli({ hello: HELLO });
    const directory = files({ hello: HELLO.replace("Good morning", "Good evening"), caller: CALLER });
    const refused = await cli("workflows", "apply", directory);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("Use --yes.") });
    expect(refused.out).toContain("changed: hello");
    expect(refused.out).toMatch(/^- +text: Good morning\n\+ +values: \{ text: Good evening \}$/m);
    expect(refused.out).toContain("new: caller");
    expect(refused.out).toContain("1 new, 1 changed, 0 unchanged, 0 to be archived");
    expect((await cli("workflows", "apply", directory, "--dry-run")).code).toBe(0);
    expect((await cli("run", "caller")).code).toBe(1);

    const applied = await cli("workflows", "apply", directory, "--yes", "--reason", "A test", "--publish");
    expect(applied.err).not.toContain("not published");
    expect(applied).toMatchObject({ code: 0, out: expect.stringContaining("published: hello") });
    expect(JSON.parse((await cli("run", "caller")).out)).toBe("Good evening");
  });

  it("reports every issue of every file with its line, and applies none of them", async () => {
    const { cli, files } = await testCli();
    const directory = files({
      good: HELLO,
      caller: CALLER,
      broken: "name: Broken\nsteps:\n  - id: a\n    type: sett\n",
      twice: HELLO,
      nameless: "steps:\n  - { id: a, type: set, values: { b: 1 } }\n",
      unreadable: "steps: [\n",
      lonely: CALLER.replaceAll("hello", "nobody"),
    });
    const { code, err } = await cli("workflows", "apply", directory, "--yes");
    expect(code).toBe(1);
    expect(err).toMatch(/broken\.yaml:4:\d+: steps\[0\]\.type .*set/);
    expect(err).toMatch(/twice\.yaml:1:1: .*good\.yaml has the same id "hello"/);
    expect(err).toMatch(/nameless\.yaml:1:1: name is missing/);
    expect(err).toMatch(/unreadable\.yaml:\d+:\d+: /);
    expect(err).toMatch(/lonely\.yaml:\d+:\d+: .*there is no workflow nobody/);
    // It calls a workflow that is new in the same directory.
    expect(err).not.toContain("caller.yaml");
    expect(err).toContain("Nothing was applied.");
    expect((await cli("workflows", "export", join(directory, "out"))).out).toContain("0 written");
  });

  it("prints the warnings of the files that it applies, once, each with its line and its fix", async () => {
    const { cli, files } = await testCli();
    const directory = files({
      zip: 'name: Zip\nschedule: { cron: "30 2 13 * FRI" }\nsteps:\n  - { id: one, type: set, values: { zip: 01067 } }\n',
    });
    const lines = [
      /^.*zip\.yaml:2:\d+: warning: schedule\.cron .*\. .*\.$/m,
      /^.*zip\.yaml:4:\d+: warning: steps\[0\]\.values\.zip is read as the number 1067, not as the text 01067\. Write "01067" in quotes/m,
    ];
    const dry = await cli("workflows", "apply", directory, "--dry-run");
    for (const line of lines) expect(dry.err).toMatch(line);
    const applied = await cli("workflows", "apply", directory, "--yes", "--publish");
    for (const line of lines) expect(applied.err).toMatch(line);
    expect(applied).toMatchObject({ code: 0, out: expect.stringContaining("published: zip") });
    expect(applied.out).not.toContain("warning: schedule.cron");
  });

  it("exports drafts with issues, and applies them again, also elsewhere", async () => {
    const broken = [
      'name: Broken\nsteps:\n  - { id: a, type: sett, values: { x: "${{ input.y }}" } }\n',
      'name: Wrong\nwhen: now\ntimeout: soon\nsteps:\n  - { id: a, type: set, values: { "<<": { x: 1 }, no: "=", t: "12:30:45", u: "a\\u2028b" } }\n',
    ];
    const { cli, directory } = await testCli({ broken: broken[0]!, wrong: broken[1]!, hello: HELLO });
    const out = join(directory, "out");
    expect((await cli("workflows", "export", out)).out).toContain("3 written");
    expect(await cli("workflows", "apply", out)).toMatchObject({
      code: 0,
      out: "0 new, 0 changed, 3 unchanged, 0 to be archived\n",
    });

    const other = await testCli();
    const applied = await other.cli("workflows", "apply", out, "--yes", "--publish");
    expect(applied).toMatchObject({
      code: 0,
      err: expect.stringMatching(/broken\.yaml:\d+:\d+: steps\[0\]\.type/),
    });
    expect(applied.out).toContain("not published: broken is a draft with");
    expect(applied.out).toContain("published: hello");
    const again = join(other.directory, "again");
    await other.cli("workflows", "export", again);
    for (const name of ["broken", "wrong"])
      expect(readFileSync(join(again, `${name}.yaml`), "utf8")).toBe(
        readFileSync(join(out, `${name}.yaml`), "utf8"),
      );
    expect(readFileSync(join(again, "hello.yaml"), "utf8")).not.toContain("draft");
  });

  it("shows the next times of a schedule before it asks, in its zone", async () => {
    const { cli, files } = await testCli({});
    const schedule = `schedule: { cron: "0 8 * * FRI#L", timezone: Asia/Kolkata }\n`;
    const { out } = await cli("workflows", "apply", files({ hello: `${HELLO}${schedule}` }), "--dry-run");
    expect(out).toMatch(/^Next times of its schedule: (\d{4}-\d{2}-\d{2}T08:00:00\+05:30(, )?){5}$/m);
    const plain = await cli("workflows", "apply", files({ hello: HELLO }), "--dry-run");
    expect(plain.out).not.toContain("Next times");
  });

  it("publishes a workflow before those that run it, so that both can change together", async () => {
    const { cli, files } = await testCli();
    for (const name of ["total", "sum"]) {
      const directory = files({ alpha: alpha(name), zeta: zeta(name) });
      const applied = await cli("workflows", "apply", directory, "--yes", "--publish");
      expect(applied.err).not.toContain("not published");
      expect(applied.code).toBe(0);
      expect(applied.out).toMatch(/published: zeta\npublished: alpha\n/);
    }
    const alone = files({ zeta: zeta("total") });
    expect(await cli("workflows", "apply", alone, "--yes", "--publish")).toMatchObject({
      code: 1,
      err: expect.stringContaining("alpha (output "),
    });
  });

  it("names the published workflows that --prune would break", async () => {
    const { cli, files } = await testCli({ hello: HELLO });
    await cli("workflows", "apply", files({ hello: HELLO, caller: CALLER }), "--yes", "--publish");
    const kept = files({ caller: CALLER }, "kept");
    const { out } = await cli("workflows", "apply", kept, "--prune", "--dry-run");
    expect(out).toContain("archived: hello\n  breaks published workflows that run it: caller\n");
    // A file that no longer runs it fits.
    writeFileSync(join(kept, "caller.yaml"), HELLO.replace("id: hello", "id: caller"));
    const fitting = await cli("workflows", "apply", kept, "--prune", "--dry-run");
    expect(fitting.out).toContain("archived: hello\n\n");
  });

  it("archives workflows without a file only with --prune", async () => {
    const { cli, files } = await testCli({ hello: HELLO, caller: CALLER });
    const directory = files({ hello: HELLO });
    expect((await cli("workflows", "apply", directory)).out).toContain("0 to be archived");
    const pruned = await cli("workflows", "apply", directory, "--prune", "--yes");
    expect(pruned).toMatchObject({ code: 0, out: expect.stringContaining("archived: caller") });
    expect(await cli("run", "caller")).toMatchObject({
      code: 1,
      err: expect.stringContaining("is archived"),
    });
    rmSync(join(directory, "hello.yaml"));
    writeFileSync(join(directory, "caller.yaml"), CALLER);
    expect(await cli("workflows", "apply", directory, "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining('"caller" is archived'),
    });
  });

  it("refuses a directory without workflows", async () => {
    const { cli, directory } = await testCli();
    expect(await cli("workflows", "apply", join(directory, "none"))).toMatchObject({ code: 2 });
    expect(await cli("workflows", "apply", directory)).toMatchObject({
      code: 2,
      err: expect.stringContaining("holds no workflows"),
    });
  });
});
