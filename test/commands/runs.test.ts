import { describe, expect, it } from "vitest";
import { runTable } from "../../src/commands/runs.ts";
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

  it("lists the scheduled times where a run has one", () => {
    const run = {
      id: "run_1",
      workflow_id: "nightly",
      version: 1,
      status: "succeeded" as const,
      trigger: "backfill" as const,
      created_at: "2026-11-21T08:00:00.000Z",
      started_at: null,
      finished_at: null,
      error: null,
    };
    const { head, rows } = runTable([
      { ...run, scheduled_for: "2026-03-28T02:00:00.000Z" },
      { ...run, trigger: "cli" },
    ]);
    const column = head.indexOf("SCHEDULED FOR (UTC)");
    expect(rows.map((row) => row[column])).toEqual(["2026-03-28 02:00:00", ""]);
    expect(runTable([run]).head).toEqual(["ID", "WORKFLOW", "STATUS", "CREATED (UTC)", "TRIGGER", "ERROR"]);
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
