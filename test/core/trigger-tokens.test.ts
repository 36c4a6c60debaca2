import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { triggerTokens } from "../../src/core/trigger-tokens.ts";

const tokens = triggerTokens(Buffer.alloc(32, 1));
const trigger = { id: "trg_8dkq2m0sfj3a", rotation: 0 };

describe("the token of a trigger", () => {
  it("names the trigger, and is the same each time", () => {
    const token = tokens.create(trigger);
    expect(token).toMatch(/^trg_8dkq2m0sfj3a\.[\w-]{32}$/);
    expect(tokens.create(trigger)).toBe(token);
    expect(tokens.idIn(token)).toBe(trigger.id);
    expect(tokens.isCurrent(token, trigger)).toBe(true);
  });

  it("is another one after each rotation, for another trigger and with another key", () => {
    const token = tokens.create(trigger);
    expect(tokens.isCurrent(token, { ...trigger, rotation: 1 })).toBe(false);
    expect(tokens.isCurrent(token, { ...trigger, id: "trg_other" })).toBe(false);
    expect(triggerTokens(Buffer.alloc(32, 2)).isCurrent(token, trigger)).toBe(false);
  });

  it("is not valid after any change", () => {
    const token = tokens.create(trigger);
    const changes = fc
      .tuple(fc.nat(token.length - 1), fc.constantFrom("a", "Z", "0", "_", "-", "."))
      .map(([at, letter]) => token.slice(0, at) + letter + token.slice(at + 1))
      .filter((changed) => changed !== token);
    expect(fc.sample(changes, 1_000).filter((changed) => tokens.isCurrent(changed, trigger))).toEqual([]);
  });
});
