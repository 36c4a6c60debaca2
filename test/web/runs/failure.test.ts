import { describe, expect, it } from "vitest";
import { describeFailure, firstSentence } from "../../../src/web/runs/failure.ts";

const step = { id: "revenue", type: "sql", attempts: 4 };

describe("describeFailure", () => {
  it("names the step, its attempts, the error and the fix", () => {
    const error = {
      code: "database_failed",
      message: "shop: no such column: regoin",
      fix: "Write region",
      step_id: "revenue",
    };
    expect(describeFailure({ error, failed_step: step })).toEqual({
      summary: "`revenue` failed after 4 attempts: shop: no such column: regoin.",
      fix: "Write region.",
    });
  });

  it("omits a single attempt, and adds no second full stop", () => {
    const error = { code: "http_status", message: "POST answered 503.", fix: "Try later!", step_id: "send" };
    expect(describeFailure({ error, failed_step: { ...step, id: "send", attempts: 1 } })).toEqual({
      summary: "`send` failed: POST answered 503.",
      fix: "Try later!",
    });
  });

  it("names the item of a fan-out", () => {
    const error = { code: "assert_failed", message: "No", step_id: "each", item: 17 };
    expect(
      describeFailure({ error, failed_step: { id: "each", type: "assert", attempts: 2, item: 17 } })?.summary,
    ).toBe("`each`, item 17, failed after 2 attempts: No.");
  });

  it("suggests a fix when the error has none", () => {
    const error = { code: "timed_out", message: "It took longer than 1 h", fix: " " };
    expect(describeFailure({ error })).toEqual({
      summary: "The run failed: It took longer than 1 h.",
      fix: "Fix the cause, then retry the run.",
    });
    expect(describeFailure({ error: { ...error, step_id: "send" } })?.fix).toBe(
      "Check the input of `send`, fix the cause, then retry from `send`.",
    );
  });

  it("returns undefined for a run that did not fail", () => {
    expect(describeFailure({ error: null })).toBeUndefined();
  });
});

describe("firstSentence", () => {
  it("ends before the next sentence, not at a dot within a word", () => {
    expect(firstSentence("POST 127.0.0.1:80 answered 503. Try later.")).toBe(
      "POST 127.0.0.1:80 answered 503.",
    );
    expect(firstSentence("shop: no such column: region")).toBe("shop: no such column: region");
  });

  it("ends at a line break, and is truncated when it is long", () => {
    expect(firstSentence("a\nb")).toBe("a");
    expect(firstSentence("x".repeat(500))).toHaveLength(161);
  });
});
