import { describe, expect, it } from "vitest";
import { statusText } from "../../../src/web/editor/status-text.ts";

const valid = { state: "checked", errors: 0, isInvalid: false } as const;

describe("the status of a text", () => {
  it("is valid only if all of it was checked as it is now", () => {
    expect(statusText(valid)).toBe("Valid. Ready to run.");
    expect(statusText({ ...valid, errors: 1 })).toBe("Can be saved, but not run yet.");
    expect(statusText({ ...valid, errors: 1, isInvalid: true })).toBe("Syntax error");
    expect(statusText({ ...valid, isPartial: true })).toMatch(/a part was not checked/);
  });

  it("says why a text was not checked", () => {
    expect(statusText({ ...valid, state: "checking" })).toMatch(/^Not checked since the last change/);
    expect(statusText({ ...valid, state: "unavailable", reason: "you are offline." })).toBe(
      "Not checked: you are offline.",
    );
    expect(statusText({ ...valid, state: "idle" })).toBe("Not checked");
    expect(statusText({ ...valid, state: "empty" })).toBe("Empty definition");
  });
});
