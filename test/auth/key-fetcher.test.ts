import { describe, expect, it } from "vitest";
import { keyFetcher } from "../../src/auth/key-fetcher.ts";
import { fakeClock } from "../support/instance.ts";

const KIB = 1024;
const at = "https://keys.example.com/one";
const answering = (bytes: number) =>
  keyFetcher(fakeClock(), () => Promise.resolve(new Response(Buffer.alloc(bytes, "k"))));

describe("the key fetcher", () => {
  it("returns a response of 64 KiB unchanged", async () => {
    const answer = await answering(64 * KIB).fetch(at);
    expect(Buffer.from(answer).equals(Buffer.alloc(64 * KIB, "k"))).toBe(true);
  });

  it("refuses a larger response", async () => {
    await expect(answering(64 * KIB + 1).fetch(at)).rejects.toThrow("larger than 64 KiB");
  });
});
