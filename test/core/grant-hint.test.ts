import { describe, expect, it } from "vitest";
import { withGrantHint, withGrantHints } from "../../src/core/grant-hint.ts";

const HINT =
  "Only what is granted to the project, and what the key is limited to, can be used (describe_environment shows it). Ask an admin for more.";

describe("withGrantHint", () => {
  it("follows the fix of an error, or stands alone", () => {
    expect(withGrantHint("Name another one.")).toBe(`Name another one. ${HINT}`);
    expect(withGrantHint(undefined)).toBe(HINT);
  });
});

describe("withGrantHints", () => {
  it.each([
    "database_read_only",
    "mail_refused",
    "unknown_chat",
    "unknown_database",
    "unknown_model",
    "unknown_secret",
    "unknown_server",
    "unknown_tool",
  ])("adds the hint to an issue with the code %s", (code) => {
    const issue = { code, path: "steps[0]" };
    expect(withGrantHints([issue])).toEqual([{ ...issue, fix: HINT }]);
    expect(issue).not.toHaveProperty("fix");
  });

  it("keeps other issues as they are", () => {
    const issue = { code: "unknown_key", fix: "Remove it." };
    expect(withGrantHints([issue, { code: "unknown_model", fix: "Name one." }])).toEqual([
      issue,
      { code: "unknown_model", fix: `Name one. ${HINT}` },
    ]);
  });
});
