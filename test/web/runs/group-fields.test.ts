import { expect, it } from "vitest";
import {
  fieldLabel,
  groupLabel,
  groupValue,
  parseExpressions,
  parseGroups,
} from "../../../src/web/runs/group-fields.ts";

it("parseGroups reads the words of fields, and keeps expressions as they are", () => {
  expect(parseGroups(["Failed step", "day", "Output.Day", 'output.region in ["a", "b"]'])).toEqual([
    "failed_step",
    "day",
    "Output.Day",
    'output.region in ["a", "b"]',
  ]);
  expect(parseGroups(["Day", "day"])).toEqual(["day"]);
  expect(["failed_step", "output.day"].map(fieldLabel)).toEqual(["Failed step", "output.day"]);
});

it("parseExpressions splits at commas outside of brackets, as the API does", () => {
  expect(parseExpressions(["output.a, max(output.b, 1) ,", " "])).toEqual(["output.a", "max(output.b, 1)"]);
});

it("groupLabel names workflows, versions and triggers, and what has no value", () => {
  const names = new Map([["weekly", "Weekly revenue"]]);
  const by = {
    workflow_id: "weekly",
    version: 3,
    trigger: "rest",
    hour: "2026-11-21T08:00",
    a: null,
    b: "",
    c: { d: 1 },
  };
  const labels = Object.keys(by).map((name) => groupLabel(by, name, names));
  expect(labels).toEqual(["Weekly revenue", "v3", "REST API", "11-21 08:00", "null", "empty", '{"d":1}']);
  expect(groupLabel({ workflow_id: "gone" }, "workflow_id", names)).toBe("gone");
  expect(["workflow_id", "error_code"].map((name) => groupLabel({}, name, names))).toEqual([
    "Single steps",
    "none",
  ]);
});

it("groupValue shows the beginning of a large value", () => {
  expect(groupValue({ truncated: true, chars: 900, preview: '["a' })).toBe('["a…');
  expect(groupValue({ truncated: true })).toEqual({ truncated: true });
});
