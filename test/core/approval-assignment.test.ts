import { describe, expect, it } from "vitest";
import {
  type Assignment,
  assignmentOf,
  type Candidate,
  currentAssignees,
  seatsOf,
  substitutedBy,
  substitutesOf,
} from "../../src/core/approval-assignment.ts";

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

const ANN = "ann@example.com";
const BEN = "ben@example.com";
const CAI = "cai@example.com";
type Events = Parameters<typeof assignmentOf>[0]["events"];

const assigned = (assignees: readonly string[], events: Events = []): Assignment =>
  assignmentOf({ assignees, events });

const own = (of: string) => ({ of, by: "assignment" });

const editor = (id: string): Candidate => ({ id, role: "editor" });

describe("seatsOf", () => {
  it.each<[string, () => Assignment, Candidate, Candidate[], unknown[]]>([
    ["the own one where nobody is named", () => assigned([]), { id: ANN, role: null }, [], [own(ANN)]],
    [
      "none of an absent person where nobody is named",
      () => assigned([]),
      editor(ANN),
      [editor(BEN)],
      [own(ANN)],
    ],
    ["the own one of an assignee", () => assigned([ANN]), { id: ANN, role: null }, [], [own(ANN)]],
    ["none of a person who is not named", () => assigned([BEN]), editor(ANN), [], []],
    ["the own one of a person with the role", () => assigned(["editor"]), editor(ANN), [], [own(ANN)]],
    [
      "the own one of a person with a higher role",
      () => assigned(["editor"]),
      { id: ANN, role: "admin" },
      [],
      [own(ANN)],
    ],
    ["none of a person with a lower role", () => assigned(["admin"]), editor(ANN), [], []],
    ["one by the lowest of several roles", () => assigned(["admin", "editor"]), editor(ANN), [], [own(ANN)]],
    ["none without a role", () => assigned(["editor"]), { id: ANN, role: null }, [], []],
    [
      "none of a person with the role who passed it on",
      () => assigned(["editor"], [passOn(ANN, BEN)]),
      editor(ANN),
      [],
      [],
    ],
    [
      "none of a person who passed on what nobody is named for",
      () => assigned([], [passOn(ANN, BEN)]),
      editor(ANN),
      [],
      [],
    ],
    [
      "the own one and those that were passed on",
      () => assigned([ANN, BEN], [passOn(BEN, ANN)]),
      { id: ANN, role: null },
      [],
      [own(ANN), { of: BEN, by: "delegation" }],
    ],
    [
      "that of an absent person, after the own one",
      () => assigned([ANN, BEN]),
      editor(ANN),
      [editor(BEN)],
      [own(ANN), { of: BEN, by: "absence", absent: BEN }],
    ],
    [
      "those that an absent person holds for others",
      () => assigned([CAI], [passOn(CAI, BEN)]),
      editor(ANN),
      [editor(BEN)],
      [{ of: CAI, by: "absence", absent: BEN }],
    ],
    [
      "none twice",
      () => assigned([ANN, BEN], [passOn(BEN, ANN)]),
      { id: ANN, role: null },
      [editor(BEN), { id: ANN, role: null }],
      [own(ANN), { of: BEN, by: "delegation" }],
    ],
    [
      "that of an absent person with the role, once",
      () => assigned(["editor"]),
      { id: ANN, role: null },
      [editor(BEN), editor(BEN), { id: CAI, role: "viewer" }],
      [{ of: BEN, by: "absence", absent: BEN }],
    ],
  ])("are %s", (_what, assignment, person, absentees, expected) => {
    expect(seatsOf(assignment(), person, absentees)).toEqual(expected);
  });
});

describe("assignmentOf an approval with events", () => {
  const escalated = { kind: "escalated" as const, by: null, to: ["admin", CAI] };

  it("adds those of an escalation, and leaves the places that are held", () => {
    const passed = passOn(CAI, DAN.id);
    expect(assigned([ANN], [escalated])).toEqual({
      open: false,
      roles: ["admin"],
      holders: new Map([
        [ANN, ANN],
        [CAI, CAI],
      ]),
    });
    expect([...assigned([CAI], [passed, escalated]).holders]).toEqual([[CAI, DAN.id]]);
  });

  it("changes nothing by a reminder, or by a delegation without an author", () => {
    const none = [
      { kind: "reminded" as const, by: null, to: [CAI] },
      { kind: "reminded" as const, by: ANN, to: [CAI] },
      { kind: "delegated" as const, by: null, to: [CAI] },
    ];
    expect([...assigned([ANN], none).holders]).toEqual([[ANN, ANN]]);
  });

  it("gives a place to who passes on an approval that everyone can decide, and to nobody who is not assigned", () => {
    expect([...assigned([], [passOn(ANN, CAI)]).holders]).toEqual([[ANN, CAI]]);
    expect([...assigned([BEN], [passOn(ANN, CAI)]).holders]).toEqual([[BEN, BEN]]);
  });

  it("passes on all places that a person holds", () => {
    const events = [passOn(BEN, ANN), passOn(ANN, CAI)];
    expect([...assigned([ANN, BEN, DAN.id], events).holders]).toEqual([
      [ANN, CAI],
      [BEN, CAI],
      [DAN.id, DAN.id],
    ]);
  });
});

describe("currentAssignees", () => {
  it("are the holders, each once, then the roles", () => {
    expect(currentAssignees(assigned([ANN, BEN, "editor"], [passOn(BEN, ANN)]))).toEqual([ANN, "editor"]);
  });
});

const away = (...pairs: [string, string][]) => pairs.map(([email, substitute]) => ({ email, substitute }));

describe("substitutedBy and substitutesOf", () => {
  it("substitutedBy finds the people directly and through substitutes who are away too", () => {
    const absences = away([BEN, ANN], [CAI, BEN], [DAN.id, "eva@example.com"]);
    expect(substitutedBy(ANN, absences)).toEqual([BEN, CAI]);
    expect(substitutedBy(BEN, absences)).toEqual([CAI]);
    expect(substitutedBy(CAI, absences)).toEqual([]);
  });

  it("substitutedBy ends in a circle, without the person", () => {
    expect(substitutedBy(ANN, away([BEN, ANN], [ANN, BEN]))).toEqual([BEN]);
    expect(substitutedBy(ANN, away([BEN, ANN], [CAI, BEN], [BEN, CAI]))).toEqual([BEN, CAI]);
  });

  it("substitutesOf finds the nearest first, and ends in a circle", () => {
    expect(substitutesOf(ANN, away([CAI, DAN.id], [ANN, BEN], [BEN, CAI]))).toEqual([BEN, CAI, DAN.id]);
    expect(substitutesOf(ANN, away([ANN, BEN], [BEN, ANN]))).toEqual([BEN]);
    expect(substitutesOf(ANN, away([ANN, BEN], [BEN, CAI], [CAI, BEN]))).toEqual([BEN, CAI]);
    expect(substitutesOf(ANN, away([BEN, CAI]))).toEqual([]);
  });
});
