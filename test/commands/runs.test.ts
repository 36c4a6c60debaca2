import { describe, expect, it } from "vitest";
import { testCli } from "../support/command-line.ts";

const GOOD = "name: Good\nsteps:\n  - { id: one, type: set, values: { a: 1 } }\n";
const ASKS = "name: Asks\nsteps:\n  - { id: may_i, type: approval, message: Really? }\n";

describe("millrace runs", () => {
  it("lists, filters, shows and cancels", async () => {
    const { cli, runs } = await testCli({ good: GOOD, asks: ASKS });
    await cli("run", "good");
    await cli("run", "asks");
    const all = (await runs()) as { id: string; workflow_id: string; status: string }[];
    expect(all.map((one) => [one.workflow_id, one.status])).toEqual([
      ["asks", "waiting"],
      ["good", "succeeded"],
    ]);
    const [asks, good] = [all[0]!, all[1]!];
    expect(await runs("--workflow", "good", "--status", "succeeded", "failed")).toMatchObject([
      { id: good.id },
    ]);
    const listed = (await cli("runs", "--limit", "1")).out.trimEnd().split("\n");
    expect(listed).toEqual([
      expect.stringMatching(/^ID +WORKFLOW +STATUS +CREATED \(UTC\) +TRIGGER +ERROR$/),
      expect.stringMatching(`^${asks.id}  asks +waiting `),
      expect.stringContaining("1 more"),
    ]);

    const values = ["--values", "steps.one.a", "steps.may_i.at", "--workflow", "good"];
    expect((await cli("runs", ...values)).out).toMatch(
      /ERROR +steps\.one\.a +steps\.may_i\.at\n\S+ .* cli +1\n$/,
    );
    expect(await cli("runs", "--values", "one")).toMatchObject({
      code: 1,
      err: expect.stringContaining("output.total"),
    });
    expect((await cli("runs", "list", "--limit", "1")).out).toBe((await cli("runs", "--limit", "1")).out);
    const shown = await cli("runs", "show", good.id);
    expect(shown.out).toMatch(/one +succeeded/);
    expect(shown.out).toContain('"a": 1');
    expect(JSON.parse((await cli("runs", "show", good.id, "--json")).out)).toMatchObject({
      id: good.id,
      steps: [{ id: "one", output: { a: 1 }, attempt_list: [{ status: "succeeded" }] }],
    });
    expect((await cli("runs", "show", asks.id)).out).toContain("Really?");

    expect(await cli("runs", "cancel", asks.id)).toMatchObject({
      code: 0,
      out: `The run ${asks.id} is cancelled.\n`,
    });
  });

  it("compares a run with the last good one, or with any other", async () => {
    const { cli, runs, files } = await testCli({ good: GOOD });
    await cli("run", "good");
    await cli("run", "good");
    const [second, first] = (await runs()) as { id: string }[];
    const same = await cli("runs", "compare", second!.id);
    expect(same).toMatchObject({ code: 0, err: "" });
    expect(same.out.split("\n")).toEqual([
      expect.stringMatching(`^before  ${first!.id}  good version 1  succeeded  .* UTC  \\d+ ms$`),
      expect.stringMatching(`^after   ${second!.id}  good version 1`),
      "They are the same, but for times and durations.",
      expect.stringMatching(/^ {3}STEP +BEFORE +AFTER$/),
      expect.stringMatching(/^= {2}one +succeeded .* ms +succeeded .* ms$/),
      "",
    ]);
    const wider = GOOD.replace("a: 1", `b: '${"x".repeat(400)}'`);
    expect(await cli("workflows", "apply", files({ good: wider }), "--yes")).toMatchObject({ code: 0 });
    await cli("run", "good");
    const [changed] = (await runs()) as { id: string }[];
    const { out } = await cli("runs", "compare", changed!.id, first!.id);
    const lines = out.split("\n");
    expect(lines).toContain("First difference: step one, input values.a");
    expect(lines).toContain("one output");
    expect(lines).toContain("  a: 1 → nothing");
    expect(lines).toContain(`  b: nothing → "${"x".repeat(299)}… (402 characters, ref steps.one.output)`);
    expect(lines.filter((line) => /^ {2}[+-]/.test(line)).length).toBeGreaterThan(1);
    const json = await cli("runs", "compare", changed!.id, first!.id, "--json");
    expect(JSON.parse(json.out)).toMatchObject({ before: first, same: false });
    expect(await cli("runs", "compare", first!.id)).toMatchObject({
      code: 1,
      err: expect.stringContaining("no earlier run of good has succeeded"),
    });
  });

  it("suggests valid statuses and reports unknown runs", async () => {
    const { cli } = await testCli();
    expect(await cli("runs", "--status", "faled")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Did you mean failed?"),
    });
    expect(await cli("runs", "show", "run_none")).toMatchObject({
      code: 1,
      err: expect.stringContaining('There is no run "run_none"'),
    });
  });
});
