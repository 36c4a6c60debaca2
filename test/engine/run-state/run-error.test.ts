import { describe, expect, it } from "vitest";
import { StepError } from "../../../src/core/step-errors.ts";
import { toRunError } from "../../../src/engine/run-state/run-error.ts";

const STEP = { stepId: "send", item: null };
const RETRY = { attempts: 4, backoff: "fixed", initial: "1s", max: "5m", initialMs: 1, maxMs: 1 } as const;
const failed = new StepError("http_failed", "It failed.", { fix: "Try again." });

describe("the fix of an error", () => {
  it.each([
    ["a step without retry", failed, null, "Try again. Add retry to the step."],
    [
      "a step whose attempts are used up",
      failed,
      RETRY,
      "Try again. The step had 4 attempts: raise retry.attempts or retry.initial if that is too soon.",
    ],
    [
      "a step that retries other errors",
      failed,
      { ...RETRY, on: ["timeout"] },
      "Try again. Add http_failed to retry.on of the step.",
    ],
    ["no step", failed, undefined, "Try again."],
    [
      "an error that another attempt would meet again",
      new StepError("http_status", "404.", { fix: "See the response.", transient: false }),
      null,
      "See the response.",
    ],
    ["an error without a fix", new StepError("model_failed", "No text."), null, "Add retry to the step."],
  ])("of %s says what its retry should be", (_what, error, retry, fix) => {
    expect(toRunError(error, STEP, retry).fix).toBe(fix);
  });

  it("is left out when there is none", () => {
    expect(toRunError(new StepError("null_value", "It is null."), STEP, null)).not.toHaveProperty("fix");
  });
});
