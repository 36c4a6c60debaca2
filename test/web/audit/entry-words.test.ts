import { describe, expect, it } from "vitest";
import { changeText, factsOf, operationLabel, summaryOf } from "../../../src/web/audit/entry-words.ts";

describe("the label of an audit entry", () => {
  it("names the operation with its outcome", () => {
    expect(operationLabel("invite_user.role_editor")).toBe("Invite user: role editor");
    expect(operationLabel("create_api_key")).toBe("Create API key");
  });
});

describe("the summary of an audit entry", () => {
  it.each([
    [
      "published",
      { change: "changed", published: 1, published_before: "none" },
      "Published version: none → 1",
    ],
    ["edited", { change: "changed", version: 2, version_before: 1 }, "Version: 1 → 2"],
    ["created", { archived: false, change: "created", published: "none", version: 1 }, "Version: 1"],
    ["paused", { change: "changed", paused: true, paused_before: false }, "Paused: no → yes"],
    [
      "allowed as a tool",
      { change: "changed", consent: '{"tool":"x"}', consent_before: "none" },
      "Allowed as a tool: none → yes",
    ],
    ["offered", { change: "changed", offers: ["finance"], offers_before: [] }, "Offered to: none → finance"],
    [
      "subscribed",
      {
        change: "created",
        events: ["run.failed"],
        name: "Hook",
        paused: false,
        tags: false,
        workflows: false,
      },
      "Events: run.failed · Name: Hook",
    ],
    ["unsubscribed", { change: "deleted", name_before: "Hook" }, "Name: Hook"],
    [
      "reverted",
      { change: "rewound", from: "2026-11-21" },
      "From: 2026-11-21 · Reverted: back to what it was",
    ],
    [
      "used a secret",
      { host: "a.example.com", step_id: "send", attempt: 2 },
      "Host: a.example.com · Step: send · Attempt: 2",
    ],
    [
      "began a bulk action",
      { action: "retry", digest: "pALm", effects_again: [], runs: 2 },
      "Action: retry · Runs: 2",
    ],
    ["nothing", {}, ""],
  ])("that %s says what changed from what to what", (_what, details, summary) => {
    expect(summaryOf(details)).toBe(summary);
  });
});

describe("the facts of an audit entry", () => {
  it("are all that is on record", () => {
    const facts = factsOf({ change: "changed", digest: "pALm", version: 2, version_before: 1, tags: false });
    expect(facts.map((fact) => [fact.label, changeText(fact)])).toEqual([
      ["Digest", "pALm"],
      ["Version", "1 → 2"],
      ["Tags", "none"],
    ]);
  });
});
