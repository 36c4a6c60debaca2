import { describe, expect, it } from "vitest";
import type { Role } from "../../schemas/user.ts";
import { newRecoveryCodes, recoveryCodeDigest } from "../../src/auth/recovery-codes.ts";
import { sealingKey } from "../../src/auth/sealing.ts";
import { secondFactors } from "../../src/auth/second-factors.ts";
import { testUser } from "../support/accounts.ts";

type Parts = Parameters<typeof secondFactors>[0];

const open = (parts: Partial<Parts> & { memberships?: Record<string, Role> } = {}) =>
  secondFactors({
    mode: "built-in",
    requiredFor: ["admin"],
    projects: {
      isSingle: async () => parts.memberships === undefined,
      membershipsOf: async () => new Map(Object.entries(parts.memberships ?? {})),
    },
    key: sealingKey("a secret of the instance", "test"),
    baseUrl: () => "https://mill.example.com",
    ...parts,
  });

describe("a required second factor", () => {
  it("is that of the listed roles, in any project, and of nobody else", async () => {
    const admin = testUser("ann", { role: "admin" });
    const editor = testUser("ben");
    expect(await open().isRequired(admin)).toBe(true);
    expect(await open().isRequired(editor)).toBe(false);
    expect(await open({ requiredFor: [] }).isRequired(admin)).toBe(false);
    const member = testUser("cleo", { role: "member" });
    expect(await open({ memberships: { finance: "admin" } }).isRequired(member)).toBe(true);
    expect(await open({ memberships: { finance: "editor" } }).isRequired(member)).toBe(false);
    expect(await open().isMissing(admin)).toBe(true);
    expect(await open().isMissing({ ...admin, hasSecondFactor: true })).toBe(false);
  });

  it.each(["oidc", "cognito"] as const)("is left to the provider with %s", async (mode) => {
    expect(await open({ mode }).isMissing(testUser("ann", { role: "admin" }))).toBe(false);
  });
});

describe("the host of passkeys", () => {
  it.each([
    ["https://mill.example.com", "mill.example.com", "https://mill.example.com"],
    ["https://mill.example.com:8443", "mill.example.com", "https://mill.example.com:8443"],
    ["http://127.0.0.1:3000", "localhost", "http://localhost:3000"],
    ["http://[::1]:3000", "localhost", "http://localhost:3000"],
  ])("of %s is %s", (baseUrl, id, origin) => {
    expect(open({ baseUrl: () => baseUrl }).relyingParty()).toEqual({ id, origin });
  });

  it.each(["https://192.0.2.7", "https://[2001:db8::7]:8443"])("does not exist for %s", (baseUrl) => {
    expect(open({ baseUrl: () => baseUrl }).relyingParty()).toBeUndefined();
  });
});

describe("shared secrets", () => {
  it("are sealed with the key of the instance", () => {
    const sealed = open().seal("JBSWY3DPEHPK3PXP");
    expect(sealed.toString("latin1")).not.toContain("JBSWY3DP");
    expect(open().unseal(sealed)).toBe("JBSWY3DPEHPK3PXP");
    const other = open({ key: sealingKey("another instance", "test") });
    expect(() => other.unseal(sealed)).toThrow("another key");
  });
});

describe("recovery codes", () => {
  it("are ten of 80 random bits, compared as people type them, and personal", () => {
    const { codes, digests } = newRecoveryCodes("usr_ann");
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^(?:[0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
    const typed = ` ${codes[3]!.toUpperCase().replaceAll("-", "")} `;
    expect(recoveryCodeDigest("usr_ann", typed)).toEqual(digests[3]);
    expect(recoveryCodeDigest("usr_ben", codes[3]!)).not.toEqual(digests[3]);
  });
});
