import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import {
  apiKeyState,
  invalidKeyError,
  parseExpiry,
  rotationExpiries,
  withLastingEnd,
} from "../../src/core/api-key-lifecycle.ts";
import { DAY, HOUR, iso } from "../../src/core/clock.ts";
import { thrownBy } from "../support/callers.ts";

const NOW = Date.parse("2026-11-21T08:00:00.000Z");
const application = { renewableUntil: iso(NOW + 30 * DAY) } as NonNullable<ApiKeyWithOwner["application"]>;
const key = {
  id: "key_1",
  owner: "ann@example.com",
  user: { role: "editor", status: "active" } as ApiKeyWithOwner["user"],
  createdAt: iso(NOW - 10 * DAY),
  revokedAt: null as string | null,
  expiresAt: null as string | null,
  application: null as ApiKeyWithOwner["application"],
};

describe("apiKeyState", () => {
  it.each([
    ["active", {}],
    ["active", { expiresAt: iso(NOW + 1) }],
    ["active", { owner: "operator", user: null }],
    ["expired", { expiresAt: iso(NOW) }],
    ["expired", { expiresAt: iso(NOW - 1), owner: "operator", user: null }],
    ["expired", { expiresAt: iso(NOW), user: null }],
    ["revoked", { revokedAt: iso(NOW), expiresAt: iso(NOW) }],
    ["revoked", { revokedAt: iso(NOW + DAY) }],
    ["owner_unknown", { user: null }],
    ["owner_inactive", { user: { role: "editor", status: "deactivated" } }],
    ["owner_inactive", { user: { role: "editor", status: "invited" } }],
  ] as const)("is %s for a key with %j", (state, fields) => {
    expect(apiKeyState({ ...key, ...fields }, NOW)).toBe(state);
  });
});

describe("withLastingEnd", () => {
  const expiresAt = iso(NOW + HOUR);
  it("is the end of the renewals of an application", () => {
    expect(withLastingEnd({ application, expiresAt }).expiresAt).toBe(application.renewableUntil);
  });

  it.each([
    ["an API key", { application: null, expiresAt }],
    ["a token without an end", { application, expiresAt: null }],
    ["a token that is valid for longer", { application, expiresAt: iso(NOW + 31 * DAY) }],
  ])("keeps %s as it is", (_what, found) => {
    expect(withLastingEnd(found)).toBe(found);
  });
});

describe("invalidKeyError", () => {
  it.each([
    ["revoked", "api_key_revoked", "it is revoked"],
    ["expired", "api_key_expired", "it has expired"],
    ["owner_inactive", "user_not_active", "its owner is not active"],
    ["owner_unknown", "user_not_active", "its owner does not exist"],
  ] as const)("of a key that is %s is %s", (state, code, reason) => {
    const message = `The API key key_1 can't be rotated: ${reason}. Create a new key instead.`;
    expect(invalidKeyError("key_1", state)).toMatchObject({ code, message });
  });
});

describe("rotationExpiries", () => {
  const overlap = { overlap: HOUR };

  it("ends the old key after the overlap, and gives the successor no end where the old one had none", () => {
    expect(rotationExpiries(key, NOW, overlap)).toEqual({ expiresAt: null, oldExpiresAt: iso(NOW + HOUR) });
  });

  it("gives the successor the lifetime of the old key, or the end that is asked for", () => {
    const limited = { ...key, expiresAt: iso(NOW + 5 * DAY) };
    expect(rotationExpiries(limited, NOW, overlap)).toEqual({
      expiresAt: iso(NOW + 15 * DAY),
      oldExpiresAt: iso(NOW + HOUR),
    });
    expect(rotationExpiries(limited, NOW, { ...overlap, expiresAt: iso(NOW + 1) }).expiresAt).toBe(
      iso(NOW + 1),
    );
  });

  it("never lets the old key live longer than it would have", () => {
    const ending = { ...key, expiresAt: iso(NOW + HOUR / 2) };
    expect(rotationExpiries(ending, NOW, overlap).oldExpiresAt).toBe(ending.expiresAt);
  });

  it.each([
    ["api_key_of_application", { application }],
    ["api_key_revoked", { revokedAt: iso(NOW) }],
    ["user_not_active", { user: null }],
  ])("refuses with %s", (code, fields) => {
    expect(thrownBy(() => rotationExpiries({ ...key, ...fields }, NOW, overlap))).toMatchObject({ code });
  });
});

describe("parseExpiry", () => {
  it.each([
    ["2027-01-31", "2027-02-01T00:00:00.000Z"],
    ["2026-12-31", "2027-01-01T00:00:00.000Z"],
    ["2028-02-29", "2028-03-01T00:00:00.000Z"],
    ["2027-01-31T12:00:00Z", "2027-01-31T12:00:00.000Z"],
    ["2027-01-31T12:00Z", "2027-01-31T12:00:00.000Z"],
    ["2027-01-31T12:00:00.5Z", "2027-01-31T12:00:00.500Z"],
    ["2027-01-31T23:30:00-02:00", "2027-02-01T01:30:00.000Z"],
    ["2027-01-01T00:30:00+02:00", "2026-12-31T22:30:00.000Z"],
    ["9999-12-31", "9999-12-31T23:59:59.999Z"],
  ])("reads %s as %s", (text, expected) => {
    expect(parseExpiry(text)).toBe(expected);
  });

  it.each([
    "",
    "tomorrow",
    "2027",
    "2027-02-30",
    "2027-02-29",
    "2027-13-01",
    "2027-00-10",
    "2027-01-00",
    "2027-02-30T12:00:00Z",
    "2027-04-31T12:00:00+02:00",
    "2027-01-31T25:00:00Z",
    "2027-01-31T12:60:00Z",
    "2027-01-31T12:00:00",
    "2027-01-31T::Z",
    "2027-01-31T12Z",
    "2027-01-31T12:00:00+25:00",
    "2027-01-31 12:00:00Z",
    "31.01.2027",
    "01/31/2027",
    "1800000000",
    "2027-1-31",
    " 2027-01-31",
    "2027-01-31\n",
    "+012027-01-31",
  ])("refuses %j", (text) => {
    expect(parseExpiry(text)).toBeUndefined();
  });

  it("reads a date as the end of that day in UTC", () => {
    const day = fc.date({ min: new Date("1970-01-01"), max: new Date("9998-12-31"), noInvalidDate: true });
    fc.assert(
      fc.property(day, (date) => {
        const bare = date.toISOString().slice(0, 10);
        expect(Date.parse(parseExpiry(bare)!)).toBe(Date.parse(`${bare}T00:00:00Z`) + DAY);
      }),
    );
  });
});
