import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Backtest } from "../../schemas/backtest.ts";
import { testCli } from "../support/command-line.ts";

const workflow = (total: string, more = "") => `name: Orders
inputs: { type: object, properties: { count: { type: integer } } }
steps:
  - { id: total, type: set, values: { amount: "\${{ ${total} }}" } }
${more}output: "\${{ steps.total.amount }}"
`;

/** The command line with a workflow that ran for 1 and 3. */
async function open() {
  const { cli, directory } = await testCli({ orders: workflow("inputs.count * 10") });
  for (const count of [1, 3]) {
    const { code, err } = await cli("run", "orders", "--input", `count=${count}`);
    expect({ code, err }).toMatchObject({ code: 0 });
  }
  const file = join(directory, "orders.yaml");
  return {
    cli,
    /** Backtests the workflow with a changed file. */
    backtest(text: string, ...options: string[]) {
      writeFileSync(file, text);
      return cli("workflows", "backtest", "orders", "--file", file, ...options);
    },
  };
}

describe("millrace workflows backtest", () => {
  it("passes when all runs are equal", async () => {
    const { cli, backtest } = await open();
    const draft = await backtest(`id: orders\n${workflow("10 * inputs.count")}`);
    expect(draft).toMatchObject({ code: 0 });
    expect(draft.out).toMatch(/^bt_[\w-]+ {2}orders draft based on version 1 {2}finished\n/);
    expect(draft.out).toContain("2 runs: 2 equal, 0 different, 0 failing, 0 not comparable\n");
    expect(draft.out).toMatch(/\/ui\/workflows\/orders\/backtests\/bt_[\w-]+\n$/);
    expect(draft.err).toContain("2 of 2 runs compared");
    const saved = await cli(
      "workflows",
      "backtest",
      "orders",
      "--version",
      "1",
      "--last",
      "1",
      "--status",
      "succeeded",
    );
    expect(saved).toMatchObject({
      code: 0,
      out: expect.stringContaining("orders version 1  finished\n  1 run: 1 equal"),
    });
  });

  it("fails when runs differ, and names the step and its values before and after", async () => {
    const { backtest } = await open();
    const { code, out, err } = await backtest(workflow("inputs.count > 2 ? 31 : inputs.count * 10"));
    expect(code).toBe(1);
    expect(out).toContain("2 runs: 1 equal, 1 different, 0 failing, 0 not comparable\n");
    expect(out).toMatch(/run_\S+ {2}different\n {4}"total" has another output\.\n/);
    expect(out).toMatch(/30 → 31\n/);
    expect(err).toContain("1 run differs, and 0 fail.");
  });

  it("fails when a run fails with the new definition, and prints it as JSON", async () => {
    const { backtest } = await open();
    const check = '  - { id: limit, type: assert, that: "inputs.count < 3", message: Too many orders. }\n';
    const { code, out, err } = await backtest(workflow("inputs.count * 10", check), "--json");
    expect(code).toBe(1);
    const { runs, first } = JSON.parse(out) as Backtest;
    expect(runs).toMatchObject({ total: 2, equal: 1, failing: 1, pending: 0 });
    expect(first[0]).toMatchObject({ result: "failing", difference: { step: "limit" } });
    expect(err).toContain("0 runs differ, and 1 fails.");
  });

  it("refuses a file together with a version, and a file that is no definition", async () => {
    const { cli } = await testCli({ orders: workflow("1") });
    const both = await cli("workflows", "backtest", "orders", "--file", "orders.yaml", "--version", "1");
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining("--version") });
    const missing = await cli("workflows", "backtest", "orders", "--file", "/nowhere/orders.yaml");
    expect(missing).toMatchObject({
      code: 2,
      err: expect.stringContaining("/nowhere/orders.yaml cannot be read"),
    });
    const none = await cli("workflows", "backtest", "orders");
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("millrace runs list") });
  });
});
