import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventTokens } from "../../src/core/event-tokens.ts";

const key = Buffer.alloc(32, 1);
const ref = { runId: "run_8dkq2m0sfj3a", stepId: "callback" };

describe("the token of an event", () => {
  it("names its run and step, and is the same each time", () => {
    const token = eventTokens(key).create(ref);
    expect(token).toMatch(/^run_8dkq2m0sfj3a\.callback\.[\w-]{32}$/);
    expect(eventTokens(key).create(ref)).toBe(token);
    expect(eventTokens(key).verify(token)).toEqual(ref);
  });

  it("is valid only with the key that made it", () => {
    expect(eventTokens(Buffer.alloc(32, 2)).verify(eventTokens(key).create(ref))).toBeUndefined();
  });

  it("is not valid after any change", () => {
    const tokens = eventTokens(key);
    const token = tokens.create(ref);
    const changes = fc
      .tuple(fc.nat(token.length - 1), fc.constantFrom("a", "Z", "0", "_", "-", "."))
      .map(([at, letter]) => token.slice(0, at) + letter + token.slice(at + 1))
      .filter((changed) => changed !== token);
    const accepted = fc.sample(changes, 1_000).filter((changed) => tokens.verify(changed) !== undefined);
    expect(accepted).toEqual([]);
  });

  it("is not valid for text that is no token", () => {
    const texts = fc.sample(fc.string(), 1_000);
    expect(texts.filter((text) => eventTokens(key).verify(text) !== undefined)).toEqual([]);
  });
});
