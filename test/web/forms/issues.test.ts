import { describe, expect, it } from "vitest";
import { issuesUnder, issuesOutside, issueText } from "../../../src/web/forms/issues.ts";

const issueAt = (path: string, more: object = {}) => ({
  path,
  code: "wrong_type",
  message: "must be a string",
  ...more,
});

describe("the issues of a field", () => {
  it("are those at its name or index and below, with relative paths", () => {
    const issues = [
      issueAt("plan"),
      issueAt("plan[0].amount"),
      issueAt("plan.x"),
      issueAt("planned"),
      issueAt(""),
    ];
    expect(issuesUnder(issues, "plan").map(({ path }) => path)).toEqual(["", "[0].amount", "x"]);
    expect(
      issuesUnder([issueAt("[0].amount"), issueAt("[01]"), issueAt("[10]")], 0).map(({ path }) => path),
    ).toEqual(["amount"]);
  });

  it("leaves issues without a field to the object itself", () => {
    const issues = [issueAt("since"), issueAt("sinse"), issueAt(""), issueAt("[3]")];
    expect(issuesOutside(issues, ["since"]).map(({ path }) => path)).toEqual(["sinse", "", "[3]"]);
    expect(issuesOutside([issueAt("[0]"), issueAt("[3]")], [0, 1]).map(({ path }) => path)).toEqual(["[3]"]);
  });

  it("become sentences that include the fix", () => {
    expect(issueText([])).toBeUndefined();
    expect(issueText([issueAt("")])).toBe("Must be a string");
    expect(issueText([issueAt("a.b", { fix: "Quote it." }), issueAt("")])).toBe(
      "a.b: must be a string. Quote it.\nMust be a string",
    );
  });

  it("become sentences that include the suggestion of the server, unless the fix has it", () => {
    expect(issueText([issueAt("", { did_you_mean: "groesse" })])).toBe(
      "Must be a string. Did you mean groesse?",
    );
    expect(issueText([issueAt("", { did_you_mean: "a", fix: "Write a." })])).toBe(
      "Must be a string. Write a.",
    );
  });

  it("say that a missing value is required", () => {
    const missing = { code: "missing", message: "is missing", fix: "Give it: text." };
    expect(issueText([issueAt("", missing), issueAt("a.b", missing)])).toBe("Required.\na.b is required.");
  });
});
