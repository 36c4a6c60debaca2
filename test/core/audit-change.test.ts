import { expect, it } from "vitest";
import { beforeAndAfter } from "../../src/core/audit-change.ts";

it("records the fields that differ as flat pairs", () => {
  expect(
    beforeAndAfter(
      { role: "viewer", limits: null, events: ["run.failed"], same: [1], name: "A" },
      { role: "editor", limits: { runs: 3 }, events: ["run.failed", "run.waiting"], same: [1], name: null },
    ),
  ).toEqual({
    role_before: "viewer",
    role: "editor",
    limits_before: "none",
    limits: '{"runs":3}',
    events_before: ["run.failed"],
    events: ["run.failed", "run.waiting"],
    name_before: "A",
    name: "none",
  });
  expect(beforeAndAfter({ role: "viewer" }, { role: "viewer" })).toEqual({});
});
