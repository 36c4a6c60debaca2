import { describe, expect, it } from "vitest";
import { commandLine } from "../support/command-line.ts";

const GOOD = "name: Good\nsteps:\n  - { id: one, type: set, values: { a: 1 } }\n";
const ASKS = "name: Asks\nsteps:\n  - { id: may_i, type: approval, message: Really? }\n";

describe("millrace runs", () => {
  it("lists, filters, shows and cancels", async () => {
    const { cli, runs } = await commandLine({ good: GOOD, asks: ASKS });
    expect((await cli("runs")).out).toContain("millrace run <workflow>");
    await cli("run", "good");
    await cli("run", "asks");
    const all = (await runs()) as { id: string; workflow_id: string; status: string }[];
    expect(all.map((it) => [it.workflow_id, it.status])).toEqual([
      ["asks", "waiting"],
      ["good", "succeeded"],
    ]);
    const [asks, good] = all as [{ id: string }, { id: string }];
    expect(await runs("--workflow", "good")).toMatchObject([{ id: good.id }]);
    expect(await runs("--status", "waiting", "queued")).toMatchObject([{ id: asks.id }]);
    expect(await runs("--limit", "1")).toHaveLength(1);
    expect((await cli("runs")).out).toMatch(new RegExp(`^${good.id}  good  succeeded`, "m"));

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
    expect(await cli("runs", "cancel", asks.id)).toMatchObject({
      code: 1,
      err: expect.stringContaining("has ended already"),
    });
  });

  it("says what can be asked for", async () => {
    const { cli } = await commandLine();
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
