/** What the checker says of who decides an approval, how many, and what happens meanwhile. */
import { describe, expect, it } from "vitest";
import { checkerOf, issuesOf } from "./test-checker.ts";

const step = (fields: object) => ({ steps: [{ id: "ask", type: "approval", message: "Go?", ...fields }] });
const issues = (fields: object) => issuesOf(step(fields));

const MEMBERS = ["ann@example.com", "ben@example.com"];
const withPeople = checkerOf({
  isActiveUser: (email) => Promise.resolve(MEMBERS.includes(email)),
  memberEmails: () => Promise.resolve(MEMBERS),
});

const THREE = ["ann@example.com", "ben@example.com", "cai@example.com"];

const nearOf = async (address: string) => {
  const { warnings } = await withPeople.check(step({ assignees: [address] }), { checkConnections: true });
  const { did_you_mean: meant, patch } = warnings.find(({ code }) => code === "not_a_user")!;
  expect(patch === undefined).toBe(meant === undefined);
  return meant;
};

const mailWarnings = async (fields: object, checkConnections = true) => {
  const { warnings } = await withPeople.check(step(fields), { checkConnections });
  return warnings.filter(({ code }) => code === "unusable").map(({ path, message }) => `${path} ${message}`);
};

describe("an approval", () => {
  it("can name people, roles, and expressions for one or several of them", async () => {
    for (const fields of [
      { assignees: THREE, required: 2 },
      { assignees: "admin" },
      { assignees: ["Editor", "ann@example.com"], required: 5 },
      { assignees: "${{ run.workflow_id }}", required: 3 },
      { assignees: ["${{ run.workflow_id }}", "ann@example.com"], required: 3, required_declines: 2 },
      { assignees: THREE, required: "${{ 1 + 1 }}" },
      { assignees: THREE, remind: ["1h", "1d"], escalate: { after: "8h", to: "admin" } },
      { assignees: THREE, remind: "4h", escalate: [{ after: "8h", to: ["dan@example.com"] }] },
      { assignees: [] },
    ])
      expect({ fields, issues: await issues(fields) }).toEqual({ fields, issues: [] });
  });

  it("is refused with roles that don't exist or can't decide, with the nearest one", async () => {
    const { errors } = await withPeople.check(
      step({ assignees: ["edtor", "viewer", "ann@", "boss"], escalate: { after: "1h", to: ["admn"] } }),
      { checkConnections: true },
    );
    expect(errors).toMatchObject([
      { path: "steps[0].assignees[0]", code: "unknown_role", did_you_mean: "editor" },
      {
        path: "steps[0].assignees[1]",
        code: "unknown_role",
        message: expect.stringContaining("viewers only read") as string,
      },
      { path: "steps[0].assignees[2]", code: "wrong_format" },
      { path: "steps[0].assignees[3]", code: "unknown_role", allowed: ["editor", "admin"] },
      { path: "steps[0].escalate.to[0]", code: "unknown_role", did_you_mean: "admin" },
    ]);
  });

  it("warns of addresses that are no members, with the nearest one", async () => {
    const { errors, warnings: all } = await withPeople.check(
      step({ assignees: ["anne@example.com"], escalate: { after: "1h", to: "somebody@elsewhere.test" } }),
      { checkConnections: true },
    );
    const warnings = all.filter(({ code }) => code === "not_a_user");
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([
      { path: "steps[0].assignees[0]", code: "not_a_user", did_you_mean: "ann@example.com" },
      { path: "steps[0].escalate.to", code: "not_a_user" },
    ]);
    expect(warnings[1]).not.toHaveProperty("did_you_mean");
    expect(warnings[0]).toMatchObject({ patch: [{ op: "replace", path: "/steps/0/assignees/0" }] });
  });

  it("suggests only an address that is a near miss before or after the @", async () => {
    expect(await nearOf("Anne@Example.com")).toBe("ann@example.com");
    expect(await nearOf("ben@exmaple.com")).toBe("ben@example.com");
    expect(await nearOf("zoe@example.com")).toBeUndefined();
    expect(await nearOf("finance@example.com")).toBeUndefined();
    expect(await nearOf("anne@exmaple.com")).toBeUndefined();
  });

  it("warns of an assignee twice, also in another case, with a fix that removes it", async () => {
    const assignees = ["ann@example.com", "admin", "Ann@Example.com", "Admin"];
    const escalate = { after: "1h", to: ["ann@example.com", "ben@example.com", "ben@example.com"] };
    const { warnings } = await withPeople.check(step({ assignees, escalate }), { checkConnections: true });
    expect(
      warnings
        .filter(({ code }) => code === "duplicate_assignee")
        .map(({ path, message, patch }) => ({ path, message, patch })),
    ).toEqual([
      {
        path: "steps[0].assignees[2]",
        message: "is in this list already as ann@example.com, and counts once",
        patch: [{ op: "remove", path: "/steps/0/assignees/2" }],
      },
      {
        path: "steps[0].assignees[3]",
        message: "is in this list already as admin, and counts once",
        patch: [{ op: "remove", path: "/steps/0/assignees/3" }],
      },
      {
        path: "steps[0].escalate.to[2]",
        message: "is in this list already, and counts once",
        patch: [{ op: "remove", path: "/steps/0/escalate/to/2" }],
      },
    ]);
  });

  it("warns once that nobody gets a mail where no mail server is configured", async () => {
    const people = { assignees: MEMBERS };
    expect(await mailWarnings({ ...people, remind: "1h", escalate: { after: "2h", to: "admin" } })).toEqual([
      "steps[0].remind sends no mail: no mail server",
    ]);
    expect(await mailWarnings(people)).toEqual(["steps[0].assignees sends no mail: no mail server"]);
    expect(await mailWarnings({ assignees: [] })).toEqual([]);
    expect(await mailWarnings(people, false)).toEqual([]);
  });

  it("is refused when more must decide than are named, or it could stay undecided", async () => {
    expect(await issues({ assignees: THREE, required: 4 })).toEqual(["steps[0].required out_of_range"]);
    expect(await issues({ assignees: ["a@example.com", "A@example.com"], required: 2 })).toEqual([
      "steps[0].required out_of_range",
    ]);
    expect(await issues({ assignees: THREE, required_declines: 4 })).toEqual([
      "steps[0].required_declines out_of_range",
    ]);
    // One approves, one declines, and the third decides nothing.
    expect(await issues({ assignees: THREE, required: 3, required_declines: 2 })).toEqual([
      "steps[0].required out_of_range",
    ]);
    expect(await issues({ assignees: THREE, required: 2, required_declines: 2 })).toEqual([]);
    // Whom it escalates to can decide too.
    const escalate = { after: "1h", to: ["dan@example.com"] };
    expect(await issues({ assignees: THREE, required: 4, escalate })).toEqual([]);
  });

  it("is refused with reminders and escalations of nobody, or with durations that can't be", async () => {
    expect(await issues({ remind: "1h", escalate: { after: "1h", to: ["admin"] } })).toEqual([
      "steps[0].remind missing",
      "steps[0].escalate missing",
    ]);
    expect(await issues({ assignees: THREE, remind: "10s" })).toHaveLength(1);
    expect(await issues({ assignees: THREE, remind: "500d" })).toEqual(["steps[0].remind duration_too_long"]);
    expect(await issues({ assignees: THREE, escalate: { after: "500d", to: ["admin"] } })).toEqual([
      "steps[0].escalate.after duration_too_long",
    ]);
    expect(await issues({ assignees: THREE, escalate: { to: ["admin"] } })).toHaveLength(1);
    expect(await issues({ assignees: THREE, required: 0 })).toHaveLength(1);
  });

  it("suggests its fields for words that are used elsewhere", async () => {
    const { errors } = await withPeople.check(step({ assignees: THREE, quorum: 2 }), {
      checkConnections: false,
    });
    expect(errors).toMatchObject([{ did_you_mean: "required" }]);
  });
});
