import { expect, it } from "vitest";
import { runToEnd, testEngine } from "../../support/engine.ts";

const MIB = 1024 * 1024;

it("fails a step whose expressions read outputs that are too large together", async () => {
  const harness = await testEngine({ maxRunBytes: 1024 * MIB });
  harness.onProbe(() => "x".repeat(3.5 * MIB));
  const ids = Array.from({ length: 19 }, (_, index) => `s${index}`);
  const read = (count: number) => ids.slice(0, count).map((id) => `size(string(steps.${id}.value))`);
  const sum = (count: number) => ({ type: "set", values: { sum: `\${{ ${read(count).join(" + ")} }}` } });
  const { states, error } = await runToEnd(harness, {
    steps: [
      ...ids.map((id) => ({ id, type: "probe", ask: id, needs: [] })),
      { id: "some", ...sum(18), needs: ids },
      { id: "all", ...sum(19), needs: ["some"] },
    ],
  });
  expect(states.slice(-2)).toEqual(["succeeded", "failed"]);
  expect(error).toMatchObject({
    code: "expression_limit",
    message: expect.stringContaining("at most 67108864 are allowed") as string,
  });
});
