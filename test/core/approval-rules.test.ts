import { describe, expect, it } from "vitest";
import { planDigest, remindersAt, tally } from "../../src/core/approval-rules.ts";

const approves = { approved: true, planDigest: "now" };
const declines = { approved: false, planDigest: "now" };
const before = { approved: true, planDigest: "before" };

describe("planDigest", () => {
  it("differs by the digests of the levels, and by how they are divided", () => {
    expect(planDigest(["a", "b"])).toBe(planDigest(["a", "b"]));
    expect(new Set([["a", "b"], ["b", "a"], ["a"], ["ab"], []].map(planDigest)).size).toBe(5);
  });
});

describe("tally", () => {
  const rules = { required: 2, requiredDeclines: 2 };
  it.each<[string, Parameters<typeof tally>[1], ReturnType<typeof tally>]>([
    ["open without decisions", [], { approved: 0, declined: 0, outcome: null }],
    ["open with too few of each", [approves, declines], { approved: 1, declined: 1, outcome: null }],
    ["approved", [approves, declines, approves], { approved: 2, declined: 1, outcome: "approved" }],
    ["declined", [declines, approves, declines], { approved: 1, declined: 2, outcome: "declined" }],
    [
      "declined where both numbers are reached",
      [approves, approves, declines, declines],
      { approved: 2, declined: 2, outcome: "declined" },
    ],
    [
      "approved by more than needed",
      [approves, approves, approves],
      { approved: 3, declined: 0, outcome: "approved" },
    ],
    [
      "open where decisions were made for another plan",
      [before, approves, { ...declines, planDigest: "before" }],
      { approved: 1, declined: 0, outcome: null },
    ],
  ])("is %s", (_what, decisions, expected) => {
    expect(tally(rules, decisions, "now")).toEqual(expected);
  });

  it("is ended by the first decision where one is enough", () => {
    const first = { required: 1, requiredDeclines: 1 };
    expect(tally(first, [approves], "now").outcome).toBe("approved");
    expect(tally(first, [declines], "now").outcome).toBe("declined");
  });
});

describe("remindersAt", () => {
  it.each<[string, Parameters<typeof remindersAt>, ReturnType<typeof remindersAt>]>([
    ["none without reminders", [null, 1_000, 10], { due: 0, next: null }],
    ["none before the first time", [{ after: [10, 30] }, 9, 10], { due: 0, next: 10 }],
    ["one at the first time", [{ after: [10, 30] }, 10, 10], { due: 1, next: 30 }],
    ["all after the last time", [{ after: [10, 30] }, 99, 10], { due: 2, next: null }],
    ["none before the first interval has passed", [{ every: 10 }, 9, 3], { due: 0, next: 10 }],
    ["none where a clock was set back", [{ every: 10 }, -25, 3], { due: 0, next: 10 }],
    ["one for each interval", [{ every: 10 }, 29, 3], { due: 2, next: 30 }],
    ["the largest number, and no next one", [{ every: 10 }, 30, 3], { due: 3, next: null }],
    ["no more than the largest number", [{ every: 10 }, 1_000, 3], { due: 3, next: null }],
  ])("gives %s", (_what, args, expected) => {
    expect(remindersAt(...args)).toEqual(expected);
  });
});
