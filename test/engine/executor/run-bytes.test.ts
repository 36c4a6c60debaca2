import { describe, expect, it } from "vitest";
import { runToEnd, testEngine } from "../../support/engine.ts";

const MIB = 1024 * 1024;
const LARGE = "x".repeat(MIB);

describe("the bytes that a run stores", () => {
  it("are limited over all items of a fan-out, also when their failures don't end the run", async () => {
    const harness = await testEngine({ maxRunBytes: 5 * MIB });
    let calls = 0;
    harness.onProbe((item) => {
      calls += 1;
      return `${String(item)} ${LARGE}`;
    });
    const { id, status, error } = await runToEnd(harness, {
      steps: [
        {
          id: "a",
          type: "probe",
          for_each: "range(0, 50)",
          concurrency: 2,
          on_error: "continue",
          ask: "${{ item }}",
        },
      ],
    });
    expect(status).toBe("failed");
    expect(error).toMatchObject({
      code: "run_too_large",
      message: expect.stringMatching(
        /^With "a" the run stores \d+ bytes of inputs and outputs; at most 5242880 are allowed \(limits\.run_bytes\)\.$/,
      ),
    });
    // Two more may run when the limit is reached.
    expect(calls).toBeLessThanOrEqual(7);
    expect((await harness.find(id)).storedBytes).toBeLessThanOrEqual(5 * MIB);
  });

  it("are counted over all steps, with their inputs", async () => {
    const harness = await testEngine({ maxRunBytes: 6 * MIB });
    const steps = Array.from({ length: 10 }, (_, index) => ({
      id: `s${index}`,
      type: "set",
      values: { text: "${{ inputs.text }}" },
    }));
    const inputs = { type: "object", properties: { text: { type: "string" } } };
    const { error, states } = await runToEnd(harness, { inputs, steps }, { inputs: { text: LARGE } });
    // The run stores its inputs, and each step its input and its output.
    expect(error).toMatchObject({ code: "run_too_large", step_id: "s2" });
    expect(states.slice(0, 3)).toEqual(["succeeded", "succeeded", "failed"]);
  });

  it("are counted before the commit of a batch in which several items end", async () => {
    const harness = await testEngine({ maxRunBytes: MIB, slots: 16 });
    harness.onProbe((item) => `${String(item)} ${"x".repeat(12_000)}`);
    const { id, error } = await runToEnd(harness, {
      steps: [{ id: "a", type: "probe", for_each: "range(0, 500)", concurrency: 16, ask: "${{ item }}" }],
    });
    expect(error).toMatchObject({ code: "run_too_large" });
    expect((await harness.find(id)).storedBytes).toBeLessThanOrEqual(MIB + 16 * 1024);
  });
});
