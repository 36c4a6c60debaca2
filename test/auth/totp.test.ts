import { describe, expect, it } from "vitest";
import { matchTotp, newTotpSecret, totpUri } from "../../src/auth/totp.ts";

/** The secret of the test vectors of RFC 6238, appendix B. */
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

describe("codes of authenticator apps", () => {
  it.each([
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_234_567_890, "005924"],
    [20_000_000_000, "353130"],
  ])("are those of RFC 6238 at %i s, and of one step before and after", (seconds, code) => {
    const step = Math.floor(seconds / 30);
    for (const steps of [-1, 0, 1])
      expect(matchTotp(SECRET, code, (seconds + 30 * steps) * 1_000)).toBe(step);
    for (const steps of [-2, 2])
      expect(matchTotp(SECRET, code, (seconds + 30 * steps) * 1_000)).toBeUndefined();
    expect(matchTotp(SECRET, `${code.slice(0, 3)} ${code.slice(3)}`, seconds * 1_000)).toBe(step);
  });

  it("belong to a random secret of 160 bits, whose URI names the account and the instance", () => {
    const secret = newTotpSecret();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(newTotpSecret()).not.toBe(secret);
    const uri = new URL(totpUri(secret, "ann@example.com", "mill.example.com"));
    expect(decodeURIComponent(uri.pathname)).toContain("ann@example.com");
    expect(Object.fromEntries(uri.searchParams)).toMatchObject({
      secret,
      issuer: "Millrace mill.example.com",
    });
  });
});
