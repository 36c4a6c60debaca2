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
    const { errors, warnings } = await withPeople.check(
      step({ assignees: ["anne@example.com"], escalate: { after: "1h", to: "somebody@elsewhere.test" } }),
      { checkConnections: true },
    );
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([
      { path: "steps[0].assignees[0]", code: "not_a_user", did_you_mean: "ann@example.com" },
      { path: "steps[0].escalate.to", code: "not_a_user" },
    ]);
    expect(warnings[1]).not.toHaveProperty("did_you_mean");
    const byLink = { assignees: ["anne@example.com"], decide_by_link: true };
    const { warnings: linked } = await withPeople.check(step(byLink), { checkConnections: true });
    expect(linked.map(({ message }) => message)).toContain(
      "is not the address of an active user, so anne@example.com can decide only with the link in the mail",
    );
  });

  it("is refused when more must decide than are named, or it could stay undecided", async () => {
    expect(await issues({ assignees: THREE, required: 4 })).toEqual(["steps[0].required out_of_range"]);
    expect(await issues({ assignees: ["a@example.com", "A@example.com"], required: 2 })).toEqual([
      "steps[0].required out_of_range",
    ]);
    expect(await issues({ assignees: ["a@example.com", "a+2@example.com"], required: 2 })).toEqual([
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

/** The warnings of an approval whose mails have links that decide. */
const warned = async (fields: object) => {
  const { errors, warnings } = await checkerOf({}).check(step({ decide_by_link: true, ...fields }), {
    checkConnections: false,
  });
  expect(errors).toEqual([]);
  return warnings.map(({ path, code, message }) => [path, code, message]);
};

const needsAccount = (path: string) => [
  [
    "steps[0].decide_by_link",
    "needs_account",
    expect.stringContaining(`addresses of ${path} only if they have an account`) as string,
  ],
];

describe("decide_by_link", () => {
  it("warns that addresses of an expression get no link without an account", async () => {
    expect(await warned({ assignees: ["cfo@example.com", "${{ run.workflow_id }}@example.com"] })).toEqual(
      needsAccount("assignees[1]"),
    );
    const escalate = [
      { after: "1h", to: "admin" },
      { after: "2h", to: ["${{ run.workflow_id }}"] },
    ];
    expect(await warned({ assignees: "cfo@example.com", escalate })).toEqual(
      needsAccount("escalate[1].to[0]"),
    );
    expect(await warned({ assignees: ["cfo@example.com"], escalate: escalate[0] })).toEqual([]);
    expect(await warned({ assignees: "${{ run.workflow_id }}", decide_by_link: false })).toEqual([]);
  });
});
