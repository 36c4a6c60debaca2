import { readFileSync } from "node:fs";
import { globSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PROJECT_ID, ProjectId } from "../../schemas/project.ts";
import { issuesOf } from "../../src/core/issues.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

describe("Regular expressions of schemas", () => {
  it("are said in words: each has a message of its own", () => {
    const without = globSync(["schemas/**/*.ts", "tools/**/*.ts", "src/**/*.ts"], { cwd: ROOT }).flatMap(
      (file) =>
        [
          ...readFileSync(`${ROOT}${file}`, "utf8").matchAll(
            /\.regex\(\s*(?:\/(?:[^/\n\\]|\\.)+\/[a-z]*|\w+)\s*\)/g,
          ),
        ].map(([call]) => `${file}: ${call}`),
    );
    expect(without).toEqual([]);
  });

  it("appear in no message", () => {
    const parsed = ProjectId.safeParse("OPS!", { reportInput: true });
    const [issue] = issuesOf(parsed.error!, ProjectId);
    expect(issue).toEqual({
      path: "",
      code: "wrong_format",
      message:
        "must have 1 to 40 lower-case letters, digits and dashes, and begin and end with a letter or digit, such as finance-eu; got OPS!",
    });
    expect(PROJECT_ID.test("finance-eu")).toBe(true);
  });
});
