import { describe, expect, it } from "vitest";
import { runToEnd, testEngine } from "../../support/engine.ts";

const MIB = 1024 * 1024;
/** The characters of `{"value":""}` around the text that a probe returns. */
const WRAPPER_CHARS = 12;

/** Runs a fan-out of sixteen items whose outputs have the given number of characters of JSON in total. */
async function fanOutOf(chars: number) {
  const harness = await testEngine();
  const each = chars / 16 - WRAPPER_CHARS;
  harness.onProbe(() => "x".repeat(each));
  return runToEnd(harness, {
    steps: [
      {
        id: "each",
        type: "probe",
        ask: 1,
        for_each: `[${Array.from({ length: 16 }, (_, index) => index).join(", ")}]`,
        concurrency: 1,
      },
    ],
    output: "done",
  });
}

describe("the outputs of a fan-out", () => {
  it("can have 16 MiB of JSON in total", async () => {
    const { status } = await fanOutOf(16 * MIB);
    expect(status).toBe("succeeded");
  });

  it("fail the step beyond that, with the size found and the size allowed", async () => {
    const { status, error } = await fanOutOf(16 * MIB + 16);
    expect(status).toBe("failed");
    expect(error).toMatchObject({ code: "output_too_large", step_id: "each" });
    expect(error?.message).toContain(String(16 * MIB + 16));
    expect(error?.message).toContain(String(16 * MIB));
  });
});
