import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { MAX_BACKTEST_RUNS } from "../../schemas/backtest-rule.ts";
import { openInstance } from "../../src/app/instance.ts";
import { OPERATOR_ACTOR } from "../../src/commands/operator.ts";
import { systemClock } from "../../src/core/clock.ts";
import { testCli } from "../support/command-line.ts";

const HELLO = "name: Hello\nsteps:\n  - { id: said, type: set, values: { text: Good morning } }\n";

const INTENT = { operation: "test", actor: OPERATOR_ACTOR, requestId: "req_1" };
const GRANT = {
  kind: "model",
  name: "writer",
  options: null,
  grantedAt: "2026-11-21T08:00:00.000Z",
  grantedBy: "operator",
} as const;
const openState = (stateDir: string) => openInstance({ stateDir }, systemClock, pino({ level: "silent" }));
/** The lines between the head and the end. */
const linesOf = (path: string) => readFileSync(path, "utf8").split("\n").slice(1, -2);
const inFinance = (...more: string[]) => ["--project", "finance", "--yes", ...more];

describe("millrace projects", () => {
  it("creates, shows, changes and deletes projects, and manages their members", async () => {
    const { cli } = await testCli();
    expect(
      await cli("projects", "create", "Finance", "--limit", "runs_per_hour=10", "rows_per_day=5"),
    ).toMatchObject({
      code: 0,
      out: "finance\n",
    });
    expect(await cli("projects", "members", "set", "finance", "Ann@example.com", "editor")).toMatchObject({
      out: "ann@example.com is editor in finance from the next request on.\n",
    });
    const changed = await cli(
      "projects",
      "update",
      "finance",
      "--name",
      "Money",
      "--review",
      "--limit",
      "rows_per_day=none",
    );
    expect(changed).toMatchObject({ code: 0, out: "Changed the project finance.\n" });
    expect((await cli("projects", "show", "finance")).out).toBe(
      "finance  Money\nconnections: granted; public hosts: as the configuration says; review: yes\nruns_per_hour: 10\n  ann@example.com  editor\n",
    );
    expect((await cli("projects", "list")).out).toMatch(
      /^ID +NAME +CONNECTIONS +REVIEW +CREATED\ndefault +Default +all +no .*\nfinance +Money +granted +yes /,
    );
    expect((await cli("projects", "members", "list", "finance", "--json")).out).toContain('"role": "editor"');
    expect(await cli("projects", "members", "remove", "finance", "ann@example.com")).toMatchObject({
      code: 0,
    });
    expect((await cli("projects", "members", "list", "finance")).out).toContain("Nobody has a role");
    expect(await cli("projects", "delete", "finance")).toMatchObject({
      out: "Deleted the project finance.\n",
    });
    expect((await cli("projects", "delete", "default")).err).toContain(
      "The default project can't be deleted.",
    );
  });

  it("says in words what is wrong with ids, also with those of the projects of a key", async () => {
    const { cli } = await testCli();
    const wrong = await cli("projects", "create", "Ops", "--id", "OPS!");
    expect(wrong).toMatchObject({ code: 1, out: "" });
    expect(wrong.err).toContain(
      "--id must have 1 to 40 lower-case letters, digits and dashes, and begin and end with a letter or digit, such as finance-eu; got OPS!",
    );
    expect(wrong.err).not.toContain("/^");
    await cli("projects", "create", "Finance");
    const key = (...args: string[]) => cli("keys", "create", "--name", "ci", ...args);
    const misspelt = await key("--project", "financ");
    expect(misspelt).toMatchObject({ code: 1, out: "" });
    expect(misspelt.err).toContain(
      "--project is not the name of a project of yours, got financ. Did you mean finance?",
    );
    expect((await key("--project", "finance", "--tool", "list_workflow")).err).toContain(
      "--tool is not the name of an operation or tool, got list_workflow. Did you mean list_workflows?",
    );
    expect((await key("--workflow", "none")).err).toContain(
      "--workflow is not the id of a workflow, got none.",
    );
    expect((await key("--scope", "read", "--tool", "run_workflow")).err).toContain(
      "--tool is run_workflow, which needs the scope run, and the key does not have it.",
    );
  });

  it("keeps the names that may differ when only the number of runs of a backtest changes", async () => {
    const { cli } = await testCli();
    const update = (...args: string[]) => cli("projects", "update", "default", ...args);
    const rule = async () => (await cli("projects", "show", "default")).out.match(/^backtest: .*$/m)?.[0];
    await update("--backtest", "100");
    expect(await rule()).toBe("backtest: the last 100 runs");
    await update("--backtest", "100", "--allow-difference", "output.note", "status");
    await update("--backtest", "200");
    expect(await rule()).toBe("backtest: the last 200 runs; may differ: output.note, status");
    await update("--backtest", "200", "--allow-difference", "steps.send");
    expect(await rule()).toBe("backtest: the last 200 runs; may differ: steps.send");
    expect(await update("--backtest", String(MAX_BACKTEST_RUNS + 1))).toMatchObject({ code: 2 });
    await update("--backtest", String(MAX_BACKTEST_RUNS));
    expect(await rule()).toBe("backtest: the last 1000 runs; may differ: steps.send");
    await update("--no-backtest");
    expect(await rule()).toBeUndefined();
  });

  it("says what is wrong with options", async () => {
    const { cli } = await testCli();
    expect(await cli("projects", "create", "Finance", "--limit", "run_per_hour=1")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Did you mean runs_per_hour?"),
    });
    expect(await cli("projects", "create", "Finance", "--limit", "runs_per_hour=0")).toMatchObject({
      code: 2,
      err: expect.stringContaining("must be a whole number from 1, or none; got 0"),
    });
    expect(await cli("projects", "update", "default")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Nothing to change."),
    });
    expect((await cli("projects", "show", "nothing")).err).toContain('There is no project "nothing"');
  });
});

describe("--project", () => {
  it("applies files to a project, and no file of another one", async () => {
    const { cli, files, directory } = await testCli({ hello: HELLO });
    await cli("projects", "create", "Finance");
    const misplaced = await cli("workflows", "apply", files({ hello: HELLO, other: HELLO }), ...inFinance());
    expect(misplaced.code).toBe(1);
    expect(misplaced.err).toContain(
      '"hello" belongs to the project "default", not "finance". Apply it with --project default, or move it first.',
    );
    expect(misplaced.err).toContain(
      'the id of a new workflow of the project "finance" must begin with "finance.". Add id: finance.other',
    );
    for (const name of ["hello", "other"]) rmSync(join(directory, "workflows", `${name}.yaml`));
    const named = files({ "finance.other": HELLO });
    expect((await cli("workflows", "apply", named, "--yes")).err).toContain(
      'the id of a new workflow of the project "default" must not begin with another project, got "finance.other". Apply it with --project finance, or use an id without a dot.',
    );
    expect((await cli("workflows", "apply", named, "--project", "finnance")).err).toContain(
      "There is no project",
    );
    const applied = await cli("workflows", "apply", named, ...inFinance("--publish", "--prune"));
    // Nothing of another project is archived.
    expect(applied.out).toContain("1 new, 0 changed, 0 unchanged, 0 to be archived");
    expect(applied.out).toContain("published: finance.other");

    const out = join(named, "out");
    expect((await cli("workflows", "export", out)).out).toContain("2 written");
    expect((await cli("workflows", "apply", out)).out).toContain("0 new, 0 changed, 2 unchanged");
    expect((await cli("workflows", "export", join(named, "own"), "--project", "finance")).out).toContain(
      "1 written",
    );
    expect((await cli("run", "finance.other")).code).toBe(0);
    expect((await cli("run", "hello")).code).toBe(0);
    const listed = async (...args: string[]) =>
      (JSON.parse((await cli("runs", "--json", ...args)).out) as { workflow_id: string }[]).map(
        ({ workflow_id }) => workflow_id,
      );
    expect(await listed()).toEqual(["hello", "finance.other"]);
    expect(await listed("--project", "finance")).toEqual(["finance.other"]);
  });
});

describe("export and import", () => {
  it("carry projects with members, grants, offers and settings", async () => {
    const from = await testCli({ hello: HELLO });
    await from.cli("projects", "create", "Finance", "--limit", "runs_per_hour=10");
    await from.cli("projects", "members", "set", "finance", "ann@example.com", "admin");
    const named = from.files({ "finance.other": HELLO, hello: HELLO });
    rmSync(join(named, "hello.yaml"));
    await from.cli("workflows", "apply", named, ...inFinance("--publish"));
    const instance = await openState(from.stateDir);
    await instance.write(INTENT, async (tx) => {
      await tx.projects.saveGrant({ ...GRANT, project: "finance" });
      await tx.projects.saveOffers("finance.other", ["default"], "operator", GRANT.grantedAt);
    });
    await instance.close();
    const file = join(from.directory, "all.jsonl");
    expect((await from.cli("export", file)).out).toMatch(/^1 project, /);

    const to = await testCli();
    const imported = await to.cli("import", file, "--yes");
    expect(imported).toMatchObject({
      code: 0,
      out: expect.stringContaining("+ project finance, 1 member, 1 grant\n"),
    });
    const shown = async ({ cli }: typeof to) =>
      JSON.parse((await cli("projects", "show", "finance", "--json")).out) as object;
    expect(await shown(to)).toEqual(await shown(from));
    const again = join(to.directory, "again.jsonl");
    await to.cli("export", again);
    const ownLines = linesOf(again).filter((line) => !line.startsWith('{"kind":"user"'));
    expect(ownLines).toEqual(linesOf(file).filter((line) => !line.startsWith('{"kind":"user"')));
    expect(ownLines.join("\n")).toContain('"project":"finance","offers":["default"]');

    // What exists is never changed; what differs is named.
    await to.cli("projects", "update", "finance", "--name", "Ours");
    const second = await to.cli("import", file, "--yes");
    expect(second.out).toContain("= project finance: skipped, exists here with other settings\n");
    expect((await shown(to)) as { name: string }).toMatchObject({ name: "Ours" });
  });

  it("refuse a workflow of a project that is nowhere", async () => {
    const from = await testCli();
    await from.cli("projects", "create", "Finance");
    await from.cli("workflows", "apply", from.files({ "finance.other": HELLO }), ...inFinance());
    const file = join(from.directory, "all.jsonl");
    await from.cli("export", file);
    const lines = readFileSync(file, "utf8").split("\n");
    const without = lines.filter((line) => !line.startsWith('{"kind":"project"'));
    writeFileSync(
      file,
      without.join("\n").replace(/"lines":(\d+)/, (_, count) => `"lines":${Number(count) - 1}`),
    );
    const { cli } = await testCli();
    const refused = await cli("import", file, "--yes");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(
      "the project finance is neither here nor in the lines before. Create it first",
    );
  });
});
