import { describe, expect, it } from "vitest";
import type { Issue } from "../../schemas/problem.ts";
import { withoutFields } from "../../src/core/hidden-fields.ts";

const HIDDEN = ["project", "projects"];
const unknown: Issue = {
  path: "projekt",
  code: "unknown_key",
  message: "is not a field",
  allowed: ["name", "project"],
  did_you_mean: "project",
  fix: "Rename it to project.",
};

describe("withoutFields", () => {
  it("offers no hidden field, also not as the nearest one", () => {
    expect(withoutFields(unknown, HIDDEN)).toEqual({
      path: "projekt",
      code: "unknown_key",
      message: "is not a field",
      allowed: ["name"],
      fix: "Remove it.",
    });
  });

  it("keeps another nearest field and its fix", () => {
    const near = { ...unknown, did_you_mean: "name", fix: "Rename it to name." };
    expect(withoutFields(near, HIDDEN)).toEqual({ ...near, allowed: ["name"] });
    const { did_you_mean: _near, fix: _fix, ...neither } = unknown;
    expect(withoutFields(neither, HIDDEN)).toStrictEqual({ ...neither, allowed: ["name"] });
  });

  it("covers the issues of the whole input", () => {
    const whole = { ...unknown, path: "", code: "too_few_fields" };
    expect(withoutFields(whole, HIDDEN).allowed).toEqual(["name"]);
  });

  it.each<[string, Issue]>([
    ["that offers values of a field", { ...unknown, code: "invalid_value", path: "sort" }],
    ["that offers no hidden field", { ...unknown, allowed: ["name"] }],
    ["that offers nothing", { path: "a", code: "unknown_key", message: "is not a field" }],
  ])("keeps an issue %s", (_what, issue) => {
    expect(withoutFields(issue, HIDDEN)).toBe(issue);
  });
});
