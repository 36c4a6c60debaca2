import { describe, expect, it } from "vitest";
import { assignmentOf, seatsOf } from "../../src/core/approval-assignment.ts";

const passOn = (by: string, to: string) => ({ kind: "delegated" as const, by, to: [to] });
const DAN = { id: "dan@example.com", role: "editor" as const };

describe("assignmentOf", () => {
  it("has one seat for the two forms of a domain", () => {
    const ann = "ann@xn--bcher-kva.example";
    const assignees = ["Ann@bücher.example", ann];
    const assignment = assignmentOf({ assignees, events: [] });
    expect([...assignment.holders]).toEqual([[ann, ann]]);
    expect(seatsOf(assignment, { id: ann, role: "editor" })).toEqual([{ of: ann, by: "assignment" }]);
    const passedOn = assignmentOf({ assignees, events: [passOn("ann@BÜCHER.example", DAN.id)] });
    expect([...passedOn.holders]).toEqual([[ann, DAN.id]]);
  });
});

describe("an approval that is passed on twice", () => {
  const events = [passOn("ben@example.com", "ann@example.com"), passOn("ann@example.com", DAN.id)];

  it("is one seat: who passes on what they hold gets none of their own", () => {
    const assignment = assignmentOf({ assignees: ["ben@example.com", "cai@example.com"], events });
    expect(seatsOf(assignment, DAN)).toEqual([{ of: "ben@example.com", by: "delegation" }]);
    expect(assignment.holders.has("ann@example.com")).toBe(false);
  });

  it("takes the seat along that somebody has by a role", () => {
    const assignment = assignmentOf({ assignees: ["editor"], events: [events[1]!] });
    expect([...assignment.holders]).toEqual([["ann@example.com", DAN.id]]);
  });
});
