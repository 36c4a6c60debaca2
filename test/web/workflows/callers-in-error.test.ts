import { expect, it } from "vitest";
import { callersIn, namedCallers } from "../../../src/web/workflows/callers-in-error.ts";

const issue = (path: string) => ({ path, code: "unknown_field", message: "is unknown" });

it("sorts the issues of a refusal by workflow, whatever dots their ids have", () => {
  const found = callersIn([
    {
      path: "break_callers",
      code: "not_confirmed",
      message: "",
      allowed: ["finance", "finance.weekly", "top", "*"],
    },
    issue("finance.weekly.steps[0].workflow"),
    issue("finance.output.total"),
    issue("top.on_failure"),
  ]);
  expect(found.map(({ id, issues }) => [id, issues.map(({ path }) => path)])).toEqual([
    ["finance", ["output.total"]],
    ["finance.weekly", ["steps[0].workflow"]],
    ["top", ["on_failure"]],
    ["*", []],
  ]);
  expect(namedCallers(found)).toBe("finance, finance.weekly, top, workflows in projects that you can’t see");
});
