import { describe, expect, it, vi } from "vitest";
import { keyFetcher } from "../../src/auth/key-fetcher.ts";
import { MINUTE, SECOND } from "../../src/core/clock.ts";
import { fakeClock } from "../support/clock.ts";

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

/** A fetcher whose server answers with a status, and how often it was asked. */
function openFetcher(status = 200) {
  const clock = fakeClock();
  const state = { status };
  const fetchKeys = vi.fn<typeof fetch>(async () => new Response("k", { status: state.status }));
  const { fetch: fetchKey } = keyFetcher(clock, fetchKeys);
  return { clock, state, fetchKeys, fetchKey };
}

describe("the key fetcher, for a key that the server does not have", () => {
  it("asks once in 30 s", async () => {
    const { clock, state, fetchKeys, fetchKey } = openFetcher(404);
    await expect(fetchKey(at)).rejects.toThrow("the server answered 404");
    state.status = 200;
    clock.advance(30 * SECOND - 1);
    await expect(fetchKey(at)).rejects.toThrow("the key was missing a moment ago");
    expect(fetchKeys).toHaveBeenCalledOnce();
    clock.advance(1);
    expect(Buffer.from(await fetchKey(at)).toString()).toBe("k");
  });

  it("asks for other keys meanwhile, and again after an error of the server", async () => {
    const { state, fetchKeys, fetchKey } = openFetcher(499);
    await expect(fetchKey(at)).rejects.toThrow("the server answered 499");
    state.status = 500;
    for (let i = 0; i < 2; i += 1)
      await expect(fetchKey(`${at}-more`)).rejects.toThrow("the server answered 500");
    expect(fetchKeys).toHaveBeenCalledTimes(3);
  });
});

describe("the key fetcher", () => {
  it("asks 30 times a minute at most, whatever the keys", async () => {
    const { clock, fetchKeys, fetchKey } = openFetcher();
    for (let key = 0; key < 30; key += 1) {
      await fetchKey(`${at}?${key}`);
      clock.advance(SECOND);
    }
    await expect(fetchKey(at)).rejects.toThrow("more than 30 keys were requested within a minute");
    expect(fetchKeys).toHaveBeenCalledTimes(30);
    clock.advance(MINUTE - 30 * SECOND - 1);
    await expect(fetchKey(at)).rejects.toThrow("more than 30 keys");
    clock.advance(1);
    await fetchKey(at);
    await expect(fetchKey(at)).rejects.toThrow("more than 30 keys");
  });

  it("follows no redirect, and gives the cause of a failed request", async () => {
    const fetchKeys = vi.fn<typeof fetch>(async () => {
      throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
    });
    const { fetch: fetchKey } = keyFetcher(fakeClock(), fetchKeys);
    await expect(fetchKey(at)).rejects.toThrow("connect ECONNREFUSED");
    expect(fetchKeys.mock.calls[0]![1]).toMatchObject({ redirect: "error" });
    fetchKeys.mockRejectedValue(new TypeError("no cause"));
    await expect(fetchKey(at)).rejects.toThrow("no cause");
  });
});
