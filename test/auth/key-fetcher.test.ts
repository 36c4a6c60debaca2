import { describe, expect, it } from "vitest";
import { keyFetcher } from "../../src/auth/key-fetcher.ts";
import { fakeClock } from "../support/instance.ts";

const KIB = 1024;
const at = "https://keys.example.com/one";
const answering = (bytes: number) =>
  keyFetcher(fakeClock(), () => Promise.resolve(new Response(Buffer.alloc(bytes, "k"))));

describe("the fetcher of keys", () => {
  it("gives an answer of 64 KiB as it came", async () => {
    const answer = await answering(64 * KIB).fetch(at);
    expect(Buffer.from(answer).equals(Buffer.alloc(64 * KIB, "k"))).toBe(true);
  });

  it("takes no larger one", async () => {
    await expect(answering(64 * KIB + 1).fetch(at)).rejects.toThrow("more than 64 KiB");
  });
});
