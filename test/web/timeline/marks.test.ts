import { describe, expect, it } from "vitest";
import { marksOf, markTexts } from "../../../src/web/timeline/marks.ts";

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 21, 10, minute)).toISOString();
const decision = (by: string, minute: number, more: object = {}) => ({
  by,
  approved: true,
  comment: null,
  at: at(minute),
  ...more,
});

describe("marksOf", () => {
  it("are the decisions, reminders, escalations and delegations of a step, in their order", () => {
    const marks = marksOf({
      approval_list: [
        {
          id: "apr_1",
          status: "approved",
          created_at: at(0),
          decisions: [
            decision("ben@example.com", 9, { for: "ann@example.com", comment: "Fine." }),
            decision("cai@example.com", 2, { approved: false, outdated: true }),
          ],
          history: [
            { event: "reminded", at: at(1), to: ["ann@example.com", "editor"], mailed: ["ann@example.com"] },
            { event: "escalated", at: at(3), to: ["admin"], not_mailed: "no_mail_server" },
            { event: "delegated", at: at(4), by: "ann@example.com", to: ["ben@example.com"], note: "Away." },
          ],
        },
      ],
    });
    expect(marks.map(({ text }) => text)).toEqual([
      "Reminded ann@example.com by mail",
      "cai@example.com declined, for a plan that has changed since: it doesn’t count",
      "Escalated to admins (nobody was mailed, because no mail server is configured)",
      "ann@example.com passed it on to ben@example.com: “Away.”",
      "ben@example.com approved in the place of ann@example.com: “Fine.”",
    ]);
    expect(marks.map((mark) => mark.at)).toEqual([1, 2, 3, 4, 9].map((minute) => Date.parse(at(minute))));
  });

  it("name the item in a fan-out, and nothing without approvals", () => {
    const approval = { id: "apr_1", status: "approved" as const, created_at: at(0), item: 3 };
    const [mark] = marksOf({ approval_list: [{ ...approval, decisions: [decision("ann@example.com", 1)] }] });
    expect(mark!.text).toBe("Item 3: ann@example.com approved");
    expect(marksOf({})).toEqual([]);
  });
});

describe("markTexts", () => {
  it("tell the newest, and count those before", () => {
    const marks = Array.from({ length: 11 }, (_, index) => ({
      at: index * 1_000,
      text: `Reminded ${index}`,
    }));
    const texts = markTexts(marks, 0);
    expect(texts).toHaveLength(9);
    expect(texts[0]).toBe("3 earlier events");
    expect(texts.at(-1)).toBe("Reminded 10 (after 10 s)");
  });
});
