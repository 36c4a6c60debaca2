import { describe, expect, it } from "vitest";
import type { Approval } from "../../../schemas/approval.ts";
import { outdatedText, reviewReason } from "../../../src/web/approvals/review-reason.ts";

type Step = NonNullable<Approval["plan"]>["workflows"][number]["steps"][number];
const step = (id: string): Step => ({ id, type: "set", effect: "Touches nothing" });
const workflow = { workflow_id: "pay", version: 1, role: "run" as const, steps: [step("a")] };

const approval = (more: Partial<Approval>, plan: Partial<NonNullable<Approval["plan"]>> = {}): Approval =>
  ({
    form: null,
    assignees: ["ann@example.com"],
    you: { can_decide: true, assigned: true },
    plan: { digest: "d", changed: false, workflows: [workflow], ...plan },
    ...more,
  }) as Approval;

const by = (name: string, outdated: boolean) =>
  ({ by: name, approved: true, comment: null, at: "", ...(outdated && { outdated }) }) as const;

describe("the card of an approval", () => {
  it("decides where it shows everything", () => {
    expect(reviewReason(approval({}))).toBeNull();
  });

  it.each([
    ["a plan that has changed", approval({}, { changed: true }), "has changed since the question"],
    ["a form", approval({ form: { type: "object" } }), "form to be filled in"],
    [
      "an override",
      approval({ you: { can_decide: true, assigned: false, override: true } }),
      "ann@example.com",
    ],
    [
      "more steps than it shows",
      approval({}, { workflows: [{ ...workflow, steps: ["a", "b", "c", "d", "e"].map(step) }] }),
      "more steps run",
    ],
    [
      "a workflow of another project",
      approval({}, { workflows: [{ ...workflow, foreign: true, steps: [] }] }),
      "another project",
    ],
  ])("gives a reason to review %s", (_what, shown, text) => {
    expect(reviewReason(shown)).toContain(text);
  });

  it("names those whose decisions no longer count", () => {
    expect(outdatedText({ decisions: [by("ann", false)] })).toBeNull();
    expect(outdatedText({ decisions: [by("ann", true), by("ann", false)] })).toBe(
      "The decision of ann no longer counts, and they can decide again.",
    );
    expect(outdatedText({ decisions: [by("ann", true), by("ben", true)] })).toContain(
      "ann, ben no longer count",
    );
  });
});
