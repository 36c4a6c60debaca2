/** `millrace runs group` counts runs in groups. */
import { expect, it } from "vitest";
import type { RunGroups } from "../../schemas/run-groups.ts";
import { testCli } from "../support/command-line.ts";

const PRICES = `name: Prices
inputs: { type: object, properties: { price: { type: number } } }
steps:
  - { id: check, type: assert, that: inputs.price > 0, message: No price. }
output: { total: "\${{ inputs.price * 2 }}" }
`;

async function open() {
  const { cli } = await testCli({ prices: PRICES });
  for (const price of [1, 2, -1]) await cli("run", "prices", "--input", `price=${price}`);
  return (...args: string[]) => cli("runs", "group", ...args);
}

it("runs group prints a table of the groups, with counts, measures and what has no value", async () => {
  const group = await open();
  const { code, out } = await group("--by", "status", "--measure", "output.total");
  expect(code).toBe(0);
  const [head, failed, succeeded, note, ...rest] = out.split("\n");
  expect(head).toMatch(
    /^status +RUNS +SUCCEEDED +FAILED +FIRST \(UTC\) +LAST \(UTC\) +MEDIAN MS +output.total min/,
  );
  expect(failed).toMatch(/^failed +1 +0 +1 +\d{4}-\d\d-\d\d \d\d:\d\d run_\S+ /);
  expect(succeeded).toMatch(/^succeeded +2 +2 +0 .* 2 +4 +6 +3$/);
  expect(note).toMatch(/^output.total has no value in 1 run, such as run_\S+: The run has no output\.$/);
  expect(rest).toEqual([""]);
});

it("runs group prints the answer as JSON, and says where there are no runs", async () => {
  const group = await open();
  const { out } = await group("--where", "inputs.price >= 2", "--json");
  expect(JSON.parse(out) as RunGroups).toMatchObject({ groups: [{ by: {}, runs: 1 }], read: 3 });
  expect((await group("--workflow", "prices", "--since", "2100-01-01")).out).toBe(
    "There are no such runs.\n",
  );
});

it("runs group names its options in the issues of its input", async () => {
  const group = await open();
  const { code, err } = await group("--by", "versoin", "--where", "output.(");
  expect(code).toBe(1);
  expect(err).toContain("--by must be a field of runs or an expression, got versoin");
  expect(err).toContain("--where has a syntax error");
});
