import { describe, expect, it } from "vitest";
import type { Approval } from "../../../schemas/approval.ts";
import { APPROVAL_VIEW, approvalNodes } from "../../../src/web/mcp-apps/approval-view.ts";
import { textOf } from "../../../src/web/mcp-apps/nodes.ts";
import { valueNodes } from "../../../src/web/mcp-apps/values.ts";
import { buttonsOf, everyElement, textsOf } from "./nodes.ts";

const AT = "2026-11-02T08:00:00Z";
const NOW = Date.parse("2026-11-02T09:00:00Z");

const APPROVAL: Approval = {
  id: "apr_1",
  run_id: "run_1",
  workflow_id: "payment",
  step_id: "ask",
  status: "pending",
  message: "Pay 1250?",
  form: null,
  assignees: ["cfo@example.com"],
  created_at: AT,
  expires_at: "2026-11-02T11:00:00Z",
  decided_at: null,
  decided_by: null,
  comment: null,
  answer: null,
};

const PLAN: NonNullable<Approval["plan"]> = {
  digest: "d",
  changed: false,
  workflows: [
    {
      workflow_id: "payment",
      version: 2,
      role: "run",
      on_failure: "tell-the-team",
      steps: [
        {
          id: "pay",
          type: "http",
          effect: "Sends POST to https://bank.example.com",
          if: "steps.ask.approved",
        },
      ],
    },
    { workflow_id: null, version: null, role: "called", foreign: true, steps: [] },
  ],
};

const text = (approval: Approval): string => approvalNodes(approval, NOW).map(textOf).join("\n");

describe("the view of approvals (APPROVAL_VIEW)", () => {
  it("shows one approval as a whole, and several as a list", () => {
    const two = [APPROVAL, { ...APPROVAL, id: "apr_2" }];
    expect(APPROVAL_VIEW.read({ items: [APPROVAL] }, {})).toEqual({
      approvals: [APPROVAL],
      selected: "apr_1",
    });
    const list = APPROVAL_VIEW.read({ items: two }, {})!;
    expect(list.selected).toBeNull();
    expect(buttonsOf(APPROVAL_VIEW.nodes(list, NOW)).map(([, action]) => action)).toEqual([
      { show: "apr_1" },
      { open: "/approvals/apr_1" },
      { show: "apr_2" },
      { open: "/approvals/apr_2" },
    ]);
    const selected = APPROVAL_VIEW.show!(list, "apr_2");
    expect(buttonsOf(APPROVAL_VIEW.nodes(selected, NOW)).map(([, action]) => action)).toEqual([
      { show: null },
      { open: "/approvals/apr_2" },
    ]);
    expect(APPROVAL_VIEW.nodes({ approvals: [], selected: null }, NOW).map(textOf)).toContain(
      "There are none.",
    );
    expect(APPROVAL_VIEW.read({ id: "run_1" }, {})).toBeUndefined();
  });

  it("reads the plan of a pending approval, and the outcome of one that was decided, with nothing but list_approvals", async () => {
    const load = async (stored: readonly Approval[]) => {
      const calls: string[] = [];
      const state = await APPROVAL_VIEW.load(
        { approvals: [APPROVAL], selected: "apr_1" },
        async (name, args) => {
          calls.push(`${name} ${String(args["run_id"])} ${String(args["status"])}`);
          return { items: stored.filter(({ status }) => status === args["status"]) };
        },
      );
      return { calls, approval: state.approvals[0]! };
    };
    const pending = await load([{ ...APPROVAL, plan: PLAN }]);
    expect(pending).toEqual({
      calls: ["list_approvals run_1 pending"],
      approval: { ...APPROVAL, plan: PLAN },
    });
    const declined: Approval = { ...APPROVAL, status: "declined", decided_by: "ann" };
    expect(await load([declined])).toEqual({
      calls: [
        "list_approvals run_1 pending",
        "list_approvals run_1 approved",
        "list_approvals run_1 declined",
      ],
      approval: declined,
    });
    expect((await load([])).approval).toEqual(APPROVAL);
  });

  it("follows only a pending approval that it shows as a whole", () => {
    expect(APPROVAL_VIEW.isFinal({ approvals: [APPROVAL], selected: "apr_1" })).toBe(false);
    expect(APPROVAL_VIEW.isFinal({ approvals: [APPROVAL], selected: null })).toBe(true);
    expect(
      APPROVAL_VIEW.isFinal({ approvals: [{ ...APPROVAL, status: "expired" }], selected: "apr_1" }),
    ).toBe(true);
  });
});

describe("the nodes of an approval (approvalNodes)", () => {
  it("show the question, the time left, the plan and who decides, and only open the page of the approval", () => {
    const shown = {
      ...APPROVAL,
      plan: PLAN,
      required: 2,
      decisions: [{ by: "ann", approved: true, comment: "Fine.", at: AT }],
    };
    const all = text(shown);
    for (const part of [
      "Approval for payment",
      "Pay 1250?",
      "requested 1 hour ago · expires in 2 hours",
      "payment, version 2: the rest of this run",
      "pay (http): Sends POST to https://bank.example.com, if steps.ask.approved",
      "If it fails, tell-the-team runs.",
      "Another project owns it and vouches for what it does.",
      "It is assigned to cfo@example.com.",
      "1 of 2 approved.",
      "ann approved: “Fine.”",
    ])
      expect(all).toContain(part);
    expect(all).not.toContain("has changed since");
    expect(text({ ...APPROVAL, plan: { ...PLAN, changed: true } })).toContain(
      "This has changed since the question.",
    );
    expect(buttonsOf(approvalNodes(shown, NOW))).toEqual([
      ["Decide in Millrace", { open: "/approvals/apr_1" }],
    ]);
  });

  it("show the outcome, and whose link decided", () => {
    const decided: Approval = {
      ...APPROVAL,
      status: "approved",
      decided_at: AT,
      decided_by: "cfo@example.com",
      decided_via: "link",
      comment: "Right.",
      answer: { budget: 5 },
    };
    expect(text(decided)).toContain("By the link that was sent to cfo@example.com.");
    expect(text(decided)).toContain('"budget": 5');
    expect(text(decided)).not.toContain("Who decides");
  });
});

describe("a value as nodes (valueNodes)", () => {
  it("is a table of the first rows and columns, with numbers on the right", () => {
    const columns = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`c${index}`, index]));
    const nodes = valueNodes(
      Array.from({ length: 30 }, () => columns),
      "Rows",
    );
    const elements = everyElement(nodes);
    expect(elements.filter(({ tag }) => tag === "tr")).toHaveLength(21);
    expect(elements.filter(({ tag }) => tag === "th").map(({ properties }) => properties.class)).toEqual(
      Array.from({ length: 12 }, () => "number"),
    );
    expect(textsOf(nodes, "dim")).toEqual(["30 rows; shown: the first 20 rows, the first 12 of 15 columns."]);
  });

  it("is shortened to some thousand characters", () => {
    for (const value of ["x".repeat(10_000), { long: "x".repeat(10_000) }, [{ cell: "x".repeat(10_000) }]])
      expect(valueNodes(value, "Value").map(textOf).join("").length).toBeLessThan(3_100);
    const truncated = { truncated: true, chars: 52_311, preview: '{"rows":[', ref: "output" };
    expect(valueNodes(truncated, "Value").map(textOf)).toEqual([
      "The beginning of a value of 52 kB:",
      '{"rows":[',
    ]);
  });

  it("keeps markup a text, in cells, names, keys and texts", () => {
    const attack = `<img src=x onerror="alert(1)"></script>`;
    for (const value of [attack, { [attack]: attack }, [{ [attack]: attack }]]) {
      const nodes = valueNodes(value, attack);
      expect(everyElement(nodes).map(({ tag }) => tag)).not.toContain("img");
      expect(nodes.map(textOf).join("")).toContain("onerror=");
    }
  });
});
