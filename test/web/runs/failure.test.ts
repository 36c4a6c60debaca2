import { describe, expect, it } from "vitest";
import { describeFailure, firstSentence } from "../../../src/web/runs/failure.ts";

const step = { id: "revenue", type: "sql", attempts: 4 };

describe("a run's failure in a sentence", () => {
  it("names the step, how often it was tried, what happened and what to do", () => {
    const error = {
      code: "database_failed",
      message: "shop: no such column: regoin",
      fix: "Write region",
      step_id: "revenue",
    };
    expect(describeFailure({ error, failed_step: step })).toEqual({
      what: "revenue failed after 4 attempts: shop: no such column: regoin.",
      todo: "Write region.",
    });
  });

  it("does not count a single attempt, and keeps the full stop that is there", () => {
    const error = { code: "http_status", message: "POST answered 503.", fix: "Try later!", step_id: "send" };
    expect(describeFailure({ error, failed_step: { ...step, id: "send", attempts: 1 } })).toEqual({
      what: "send failed: POST answered 503.",
      todo: "Try later!",
    });
  });

  it("names the item of a fan-out", () => {
    const error = { code: "assert_failed", message: "No", step_id: "each", item: 17 };
    expect(
      describeFailure({ error, failed_step: { id: "each", type: "assert", attempts: 2, item: 17 } })?.what,
    ).toBe("each, item 17, failed after 2 attempts: No.");
  });

  it("says what to do where the error does not", () => {
    const error = { code: "timed_out", message: "It took longer than 1 h", fix: " " };
    expect(describeFailure({ error })).toEqual({
      what: "The run failed: It took longer than 1 h.",
      todo: "Mend the cause, then retry the run.",
    });
    expect(describeFailure({ error: { ...error, step_id: "send" } })?.fix).toContain("what send was given");
  });

  it("says nothing of a run that did not fail", () => {
    expect(describeFailure({ error: null })).toBeUndefined();
  });
});

describe("the first sentence of a message", () => {
  it("ends where the next one begins, not at a dot within", () => {
    expect(firstSentence("POST 127.0.0.1:80 answered 503. Try later.")).toBe(
      "POST 127.0.0.1:80 answered 503.",
    );
    expect(firstSentence("shop: no such column: region")).toBe("shop: no such column: region");
  });

  it("ends with the line, and is cut where it is long", () => {
    expect(firstSentence("a\nb")).toBe("a");
    expect(firstSentence("x".repeat(500))).toHaveLength(161);
  });
});
