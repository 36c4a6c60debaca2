import { describe, expect, it } from "vitest";
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
});
