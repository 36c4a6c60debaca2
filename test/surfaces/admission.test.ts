import { describe, expect, it } from "vitest";
import type { Principal } from "../../src/core/principal.ts";
import { admission } from "../../src/surfaces/admission.ts";

const principal = (fields: Partial<Principal>): Principal =>
  ({ kind: "key", keyId: "key_1", lineage: "key_1", ...fields }) as Principal;

const limiter = (perMinute: number | undefined, now = (): number => 1) => {
  const { checkRateLimit } = admission({} as never, perMinute, now);
  return (fields: Partial<Principal> = {}): string | undefined => {
    try {
      checkRateLimit(principal(fields));
      return undefined;
    } catch (error) {
      const { code, details } = error as { code: string; details: { headers: Record<string, string> } };
      return `${code} ${details.headers["Retry-After"]}`;
    }
  };
};

describe("the rate limit", () => {
  it("refuses requests beyond the limit until the minute of the first one is over", () => {
    let now = 1;
    const request = limiter(2, () => now);
    expect([request(), request(), request()]).toEqual([undefined, undefined, "rate_limited 60"]);
    now += 59_500;
    expect(request()).toBe("rate_limited 1");
    now += 501;
    expect([request(), request(), request()]).toEqual([undefined, undefined, "rate_limited 60"]);
  });

  it("counts each key separately, and all sessions of a user together", () => {
    const request = limiter(1);
    expect(request()).toBeUndefined();
    expect(request({ keyId: "key_2" })).toBeUndefined();
    expect(request({ kind: "session", keyId: "session_1", lineage: "user_1" })).toBeUndefined();
    expect(request({ kind: "session", keyId: "session_2", lineage: "user_1" })).toBe("rate_limited 60");
  });

  it("refuses nothing without a limit", () => {
    const request = limiter(undefined);
    expect(Array.from({ length: 1_000 }, () => request()).filter(Boolean)).toEqual([]);
  });
});
