import { describe, expect, it } from "vitest";
import { shellWord } from "../../src/commands/shell-word.ts";

describe("shellWord", () => {
  it("quotes what a shell would change", () => {
    expect(shellWord("/tmp/millrace-a1/team.weekly.yaml")).toBe("/tmp/millrace-a1/team.weekly.yaml");
    expect(shellWord("/tmp/my files/a.yaml")).toBe("'/tmp/my files/a.yaml'");
    expect(shellWord("it's")).toBe(String.raw`'it'\''s'`);
    expect(shellWord("")).toBe("''");
  });
});
