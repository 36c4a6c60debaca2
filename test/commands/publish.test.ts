import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withCommands } from "../../src/commands/command-ways.ts";
import { testCli } from "../support/command-line.ts";

const workflow = (total: string, note: string) => `id: orders
name: Orders
inputs: { type: object, properties: { count: { type: integer } } }
steps:
  - { id: total, type: set, values: { amount: "\${{ ${total} }}" } }
output: { total: "\${{ steps.total.amount }}", note: ${note} }
backtest: { last: 10, allow: [output.note] }
`;

describe("millrace workflows publish", () => {
  it("publishes what a backtest finds only once it is accepted by name, without an executor of its own", async () => {
    const { cli, directory } = await testCli({ orders: workflow("inputs.count * 10", "net") });
    const apply = (text: string) => {
      writeFileSync(join(directory, "orders.yaml"), text);
      return cli("workflows", "apply", directory, "--yes", "--publish");
    };
    await cli("workflows", "publish", "orders");
    expect(await cli("run", "orders", "--input", "count=1")).toMatchObject({ code: 0 });
    expect(await apply(workflow("10 * inputs.count", "gross"))).toMatchObject({
      code: 0,
      out: expect.stringContaining("published: orders\n"),
    });
    const refused = await apply(workflow("inputs.count * 11", "gross"));
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(
      /not published: orders: .* differs in output\.total \(1 of the last 1 runs, backtest bt_[\w-]+\)\. .*: --accept-difference output\.total\. .* The runs are on http/,
    );
    expect(await cli("workflows", "publish", "orders", "--accept-difference", "output.total")).toEqual({
      code: 0,
      out: "Published version 3 of orders.\n",
      err: expect.any(String),
    });
    const back = await cli("workflows", "publish", "orders", "--version", "1", "--json");
    expect(JSON.parse(back.out)).toMatchObject({ id: "orders", published_version: 1 });
  });
});

describe("withCommands", () => {
  it("writes names to accept as arguments of a shell", () => {
    expect(
      withCommands(`Accept it: accept_differences: ["output.a","output.it's \\"b\\""]. Else change it.`),
    ).toBe(`Accept it: --accept-difference output.a 'output.it'\\''s "b"'. Else change it.`);
  });
});
