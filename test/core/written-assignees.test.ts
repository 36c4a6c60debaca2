import { describe, expect, it } from "vitest";
import { isNamedStranger, writtenAssignees } from "../../src/core/written-assignees.ts";

const EXPRESSION = "${{ inputs.who }}";
const EVA = "eva@example.com";

describe("writtenAssignees", () => {
  it("finds those of assignees and of each escalation, and tells texts from expressions", () => {
    expect(
      writtenAssignees({
        assignees: [EVA, EXPRESSION, 7],
        escalate: [{ after: "1h", to: "admin" }, { to: [EXPRESSION] }, { after: "2h" }],
      }),
    ).toEqual({
      literal: [
        { path: ["assignees", 0], assignee: EVA },
        { path: ["escalate", 0, "to"], assignee: "admin" },
      ],
      computed: [
        { path: ["assignees", 1], assignee: EXPRESSION },
        { path: ["escalate", 1, "to", 0], assignee: EXPRESSION },
      ],
    });
  });

  it("finds those of a single text and of a single escalation", () => {
    expect(writtenAssignees({ assignees: EVA, escalate: { to: ["admin"] } }).literal).toEqual([
      { path: ["assignees"], assignee: EVA },
      { path: ["escalate", "to", 0], assignee: "admin" },
    ]);
    expect(writtenAssignees({})).toEqual({ literal: [], computed: [] });
    expect(writtenAssignees({ escalate: [undefined] })).toEqual({ literal: [], computed: [] });
  });
});

describe("isNamedStranger", () => {
  const saved = { definition: null };
  it.each<[string, Parameters<typeof isNamedStranger>, boolean]>([
    [
      "an address that the version names, in any form",
      [saved, { assignees: ["Eva@Example.com"] }, EVA],
      true,
    ],
    ["one of several", [saved, { assignees: ["ann@example.com", EVA] }, EVA], true],
    ["an address of an escalation", [saved, { escalate: [{ to: EVA }] }, EVA], true],
    ["no other address", [saved, { assignees: ["ann@example.com"] }, EVA], false],
    ["no other tag of it", [saved, { assignees: ["eva+2@example.com"] }, EVA], false],
    ["nobody where an expression computes it", [saved, { assignees: EXPRESSION }, EXPRESSION], false],
    ["nobody in a definition of the run's own", [{ definition: {} }, { assignees: [EVA] }, EVA], false],
    ["nobody without the step", [saved, undefined, EVA], false],
  ])("is true for %s", (_what, args, expected) => {
    expect(isNamedStranger(...args)).toBe(expected);
  });
});
