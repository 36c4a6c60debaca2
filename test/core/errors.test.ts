import { describe, expect, it } from "vitest";
import { Problem } from "../../schemas/problem.ts";
import { AppError, type ErrorCode, ERRORS, toAppError, toProblem } from "../../src/core/errors.ts";

const table = Object.entries(ERRORS) as [ErrorCode, (typeof ERRORS)[ErrorCode]][];

describe("the error table", () => {
  it.each(table)("has a valid entry for %s", (code, { status, title, mcp, log }) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(Number.isInteger(status) && status >= 400 && status <= 599).toBe(true);
    expect(title).toMatch(/^[A-Z].*[^.]$/);
    expect(["tool", "protocol"]).toContain(mcp);
    expect(["info", "warn", "error"]).toContain(log);
  });

  it("logs no status of 500 and above as info", () => {
    expect(table.filter(([, { status, log }]) => status >= 500 && log === "info")).toEqual([]);
  });

  it("has no two codes with one title", () => {
    const titles = table.map(([, { title }]) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });
});

describe("toProblem", () => {
  it.each(table)("returns valid problem details for %s", (code, { status, title }) => {
    const problem = toProblem(new AppError(code, "What to do."), "req_1");
    expect(Problem.parse(problem)).toEqual({
      type: `urn:millrace:problem:${code}`,
      title,
      status,
      code,
      detail: "What to do.",
      request_id: "req_1",
    });
  });

  it("contains the validation issues, and neither headers nor cause", () => {
    const issue = { path: "name", code: "missing", message: "is missing" };
    const error = new AppError("invalid_input", "…", {
      errors: [issue],
      headers: { Allow: "GET" },
      cause: new Error("secret"),
    });
    const shown = JSON.stringify(toProblem(error, "req_1"));
    expect(JSON.parse(shown)).toHaveProperty("errors", [issue]);
    expect(shown).not.toMatch(/secret|Allow/);
  });
});

describe("toAppError", () => {
  it("returns an AppError unchanged", () => {
    const error = new AppError("busy", "…");
    expect(toAppError(error)).toBe(error);
  });

  it.each([[new Error("a secret")], ["a secret"], [undefined], [null], [{ message: "a secret" }]])(
    "hides %j behind internal",
    (thrown) => {
      const error = toAppError(thrown);
      expect(error.code).toBe("internal");
      expect(error.message).not.toContain("secret");
      expect(error.cause).toBe(thrown);
    },
  );
});
