import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PASSWORD_RULE, passwordIssue } from "../../schemas/password.ts";

describe("passwordIssue", () => {
  it.each([
    "twelve chars",
    "aB3$aB3$",
    "Ünï€1234",
    "🐴".repeat(12),
    "x".repeat(256),
    "🐴".repeat(256),
    "            ",
  ])("accepts %j", (password) => {
    expect(passwordIssue(password)).toBeUndefined();
  });

  it.each([
    ["", "too_short"],
    ["aB3$aB3", "too_short"],
    ["🐴🐴🐴🐴🐴🐴🐴", "too_short"],
    ["elevenchars", "too_simple"],
    ["ab3$ab3$", "too_simple"],
    ["AB3$AB3$", "too_simple"],
    ["aBc$aBc$", "too_simple"],
    ["aB34aB34", "too_simple"],
    ["aB3 aB3 ", "too_simple"],
    ["x".repeat(257), "too_long"],
    ["🐴".repeat(257), "too_long"],
    ["x".repeat(10_000_000), "too_long"],
    // One character each as typed; as hashed 18 and 3.
    ["\uFDFA".repeat(15), "too_long"],
    ["long enough \uD800", "invalid_text"],
    ["password\0\0\0\0", "invalid_text"],
  ])("refuses %j as %s", (password, code) => {
    expect(passwordIssue(password)?.code).toBe(code);
  });

  it("counts a letter once, however a keyboard composed it", () => {
    const composed = "äöüäöüäöüäöü";
    expect(passwordIssue(composed)).toBeUndefined();
    expect(passwordIssue(composed.slice(0, 11).normalize("NFD"))?.code).toBe("too_simple");
  });

  it("takes whatever has twelve to 256 plain characters, and says the rule for less than eight", () => {
    const plain = fc.string({ unit: "grapheme-ascii", minLength: 12, maxLength: 256 });
    fc.assert(
      fc.property(plain, (password) => {
        expect(passwordIssue(password)).toBeUndefined();
      }),
    );
    const short = fc.string({ unit: "grapheme-ascii", maxLength: 7 });
    fc.assert(
      fc.property(short, (password) => {
        expect(passwordIssue(password)?.fix).toBe(PASSWORD_RULE);
      }),
    );
  });

  it("never repeats the password", () => {
    for (const password of ["secret", "secretsecre", "secret\uD800", "secret".repeat(100)])
      expect(JSON.stringify(passwordIssue(password))).not.toContain("secret");
  });
});
