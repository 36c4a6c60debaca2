import { describe, expect, it } from "vitest";
import { changedVersions, splitDetails } from "../../../src/web/audit/changed-fields.ts";
import { detailsLabel, operationLabel } from "../../../src/web/audit/entry-labels.tsx";

describe("the labels of audit entries", () => {
  it("name the operation with its outcome", () => {
    expect(operationLabel("invite_user.role_editor")).toBe("Invite user: role editor");
    expect(operationLabel("create_api_key")).toBe("Create API key");
  });

  it("list the details", () => {
    expect(
      detailsLabel({ host: "hooks.example.com", step_id: "send", attempt: 2, status: ["failed", "queued"] }),
    ).toBe("host: hooks.example.com · step id: send · attempt: 2 · status: failed, queued");
    expect(detailsLabel({})).toBe("");
  });

  it("show what a change replaced as before and after", () => {
    const details = {
      changed: ["httpPublic"],
      http_public_before: "any",
      http_public: ["a.example.com"],
      reason: "x",
    };
    expect(splitDetails(details)).toEqual({
      changes: [{ name: "http public", before: "any", after: "a.example.com" }],
      rest: { reason: "x" },
    });
    expect(splitDetails({ changed: ["description"] }).rest).toEqual({ changed: ["description"] });
    expect(splitDetails({ change: "created", version: 1 }).changes).toEqual([]);
  });

  it("lead to the two versions of a workflow that a change is between", () => {
    const entry = {
      id: 1,
      at: "2026-11-21T08:00:00.000Z",
      operation: "update_workflow",
      target: "weekly-revenue",
      owner: "ann@example.com",
      key_name: "ci",
      lineage: null,
      surface: "rest" as const,
      client: "curl",
      request_id: null,
      hash: null,
      details: { change: "changed", version_before: 1, version: 2 },
    };
    expect(changedVersions(entry)).toEqual({ workflowId: "weekly-revenue", from: 1, to: 2 });
    const published = { ...entry, details: { published_before: "none", published: 2 } };
    expect(changedVersions(published)).toBeUndefined();
    expect(changedVersions({ ...entry, operation: "update_user" })).toBeUndefined();
  });
});
