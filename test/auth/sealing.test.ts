import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { seal, sealingKey, unseal } from "../../src/auth/sealing.ts";

const key = sealingKey("a secret with enough bits", "sessions");
const VALUE = { refresh_token: "r1", groups: ["ops"] };

describe("a sealed value", () => {
  it("is read with the same key, and looks different each time", () => {
    const [first, second] = [seal(key, VALUE), seal(key, VALUE)];
    expect(unseal(key, first)).toEqual(VALUE);
    expect(unseal(key, second)).toEqual(VALUE);
    expect(first.equals(second)).toBe(false);
    expect(first.toString("latin1")).not.toContain("r1");
  });

  it("is not read with the key of another purpose or another secret", () => {
    const sealed = seal(key, VALUE);
    expect(unseal(sealingKey("a secret with enough bits", "sign-on"), sealed)).toBeUndefined();
    expect(unseal(sealingKey("another secret", "sessions"), sealed)).toBeUndefined();
  });

  it("is not read when any byte of it was changed", () => {
    const sealed = seal(key, VALUE);
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index]! ^= 1;
      expect(unseal(key, changed), `byte ${index}`).toBeUndefined();
    }
  });

  it("is not read when it was cut, or never was one", () => {
    const sealed = seal(key, VALUE);
    for (let length = 0; length < sealed.length; length += 1)
      expect(unseal(key, sealed.subarray(0, length)), `${length} bytes`).toBeUndefined();
    expect(unseal(key, randomBytes(200))).toBeUndefined();
  });
});
