import { describe, expect, it } from "vitest";
import { issuesUnder, issuesOutside, issueText } from "../../../src/web/forms/issues.ts";

const at = (path: string, more: object = {}) => ({
  path,
  code: "wrong_type",
  message: "must be text",
  ...more,
});

describe("the faults of a field", () => {
  it("are those at its name or index and below it, with paths from there on", () => {
    const issues = [at("plan"), at("plan[0].amount"), at("plan.x"), at("planned"), at("")];
    expect(issuesUnder(issues, "plan").map(({ path }) => path)).toEqual(["", "[0].amount", "x"]);
    expect(issuesUnder([at("[0].amount"), at("[01]"), at("[10]")], 0).map(({ path }) => path)).toEqual([
      "amount",
    ]);
  });

  it("none gets lost: what no field takes is the object's own", () => {
    const issues = [at("since"), at("sinse"), at(""), at("[3]")];
    expect(issuesOutside(issues, ["since"]).map(({ path }) => path)).toEqual(["sinse", "", "[3]"]);
    expect(issuesOutside([at("[0]"), at("[3]")], [0, 1]).map(({ path }) => path)).toEqual(["[3]"]);
  });

  it("are told as sentences, with what to do", () => {
    expect(issueText([])).toBeUndefined();
    expect(issueText([at("")])).toBe("Must be text");
    expect(issueText([at("a.b", { fix: "Quote it." }), at("")])).toBe(
      "a.b: must be text. Quote it.\nMust be text",
    );
  });
});
