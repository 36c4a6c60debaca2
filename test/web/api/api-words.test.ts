import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { TOOL_NAMES } from "../../../schemas/generated/tool-names.ts";
import {
  detailForPeople,
  hasApiWord,
  issueForPeople,
  withoutApiWords,
} from "../../../src/web/api/api-words.ts";
import { ApiError } from "../../../src/web/api/client.ts";

/** The texts in the code of the server that name a tool, a route or a header, with `x` for each value. */
function apiTexts(): string[] {
  const literals = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
  const files = globSync([
    "src/{core,engine,auth,store,connections,steps,surfaces}/**/*.ts",
    "tools/**/*.ts",
  ]);
  return files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(literals)]
      .map(([literal]) =>
        literal
          .slice(1, -1)
          .replaceAll(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, "x")
          .trim(),
      )
      // The guide and the descriptions of tools are long, and for agents.
      .filter((text) => text.includes(" ") && !text.includes("\n") && hasApiWord(text)),
  );
}

describe("withoutApiWords", () => {
  it.each([
    [
      'There is no run "x". list_runs (GET /runs) lists runs; old ones are deleted.',
      'There is no run "x". Old ones are deleted.',
    ],
    [
      "Retry the run later (retry_run); it reuses its outputs.",
      "Retry the run later; it reuses its outputs.",
    ],
    ["Add one with update_workflow, or choose another workflow.", "Add one, or choose another workflow."],
    ["Fix them with update_workflow; validate_workflow finds the same.", "Fix them."],
    ["Send the header X-API-Key.", ""],
    ['Tell them. get_workflow with include: ["last_review"], or GET /reviews/x, shows it.', "Tell them."],
    ["It failed (status 500). Try again.", "It failed (status 500). Try again."],
    ["The step get_orders failed. Try again.", "The step get_orders failed. Try again."],
  ])("makes of %j %j", (text, expected) => expect(withoutApiWords(text)).toBe(expected));

  it("leaves no name of a tool in any text of the server, and whole sentences", () => {
    const texts = apiTexts();
    expect(texts.length).toBeGreaterThan(100);
    const wrong = texts
      .map((text) => [text, withoutApiWords(text)] as const)
      .filter(
        ([, rest]) =>
          hasApiWord(rest) ||
          // What is left of a sentence has no holes.
          /\(\s*\)|\s[,.;]|,\s*[.;]|\b(?:or|and|use)[.,;]/i.test(rest),
      );
    expect(wrong).toEqual([]);
  });

  it.each(TOOL_NAMES)("knows %s", (name) => expect(hasApiWord(`Call ${name}.`)).toBe(true));
});

const PROBLEM = {
  type: "about:blank",
  title: "The run does not exist",
  status: 404,
  code: "run_not_found",
  request_id: "",
};

describe("an error of the API", () => {
  it("says what the API says, without how to call it", () => {
    const error = new ApiError({
      ...PROBLEM,
      detail: 'There is no run "run_nope". list_runs (GET /runs) lists runs; old ones are deleted.',
      errors: [{ path: "run_id", code: "not_found", message: "is unknown", fix: "See list_runs." }],
    });
    expect(error.message).toBe('There is no run "run_nope". Old ones are deleted.');
    expect(error.problem.errors).toEqual([{ path: "run_id", code: "not_found", message: "is unknown" }]);
  });

  it("has its title where nothing else is for people", () => {
    expect(detailForPeople({ ...PROBLEM, detail: "Use list_runs." })).toBe("The run does not exist.");
    expect(issueForPeople({ message: "see get_run", fix: "Write name." })).toEqual({
      message: "is not valid",
      fix: "Write name.",
    });
  });
});
