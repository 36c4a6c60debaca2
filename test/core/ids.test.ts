import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newRequestId, requestIdOf } from "../../src/core/ids.ts";

const GENERATED = /^req_[A-Za-z0-9][\w-]{10}[A-Za-z0-9]$/;

describe("request ids", () => {
  it("are unique", () => {
    const ids = Array.from({ length: 1_000 }, newRequestId);
    expect(new Set(ids).size).toBe(1_000);
    // No hyphen at either end, which would look like punctuation.
    for (const id of ids) expect(id).toMatch(GENERATED);
  });

  it.each(["a", "3f1c9a52-5c1e-4d0a-9f6b-0d6c5c1e4d0a", "trace:00-1.2~x", "x".repeat(128)])(
    "are the client's own when they can be logged: %s",
    (given) => {
      expect(requestIdOf(given)).toBe(given);
    },
  );

  it.each([
    undefined,
    "",
    "x".repeat(129),
    "a b",
    "a\r\nSet-Cookie: x",
    "a\u0000",
    '"',
    "<b>",
    "ä",
    ["a", "b"],
    "a\n",
  ])("are generated when the client sends %j", (given) => {
    expect(requestIdOf(given)).toMatch(GENERATED);
  });

  it("never contain a character that could break a log line or a header", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (given) => {
        expect(requestIdOf(given)).toMatch(/^[\w.:~-]{1,128}$/);
      }),
    );
  });
});
