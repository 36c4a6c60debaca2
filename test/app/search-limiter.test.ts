import { describe, expect, it } from "vitest";
import { createSearchLimiter } from "../../src/app/search-limiter.ts";

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function open(options?: { maxWaitMs: number }) {
  const limit = createSearchLimiter(options);
  const running: string[] = [];
  const ends: (() => void)[] = [];
  const search = (owner: string, signal = new AbortController().signal) =>
    limit({ owner, signal }, async () => {
      running.push(owner);
      const end = Promise.withResolvers<void>();
      ends.push(() => end.resolve());
      await end.promise;
      running.splice(running.indexOf(owner), 1);
      return owner;
    });
  return { limit, search, running, ends };
}

describe("the limit of searches", () => {
  it("lets three run, two of one owner, and the next owner in before further ones of the first", async () => {
    const { search, running, ends } = open();
    const ofAnn = [1, 2, 3, 4].map(() => search("ann"));
    await nextTurn();
    expect(running).toEqual(["ann", "ann"]);
    const ofBob = search("bob");
    const ofCid = search("cid");
    await nextTurn();
    expect(running).toEqual(["ann", "ann", "bob"]);
    ends[0]!();
    await nextTurn();
    expect(running).toEqual(["ann", "bob", "cid"]);
    for (let ended = 1; ended < 6; ended += 1) {
      ends[ended]!();
      await nextTurn();
    }
    expect(await Promise.all([...ofAnn, ofBob, ofCid])).toEqual(["ann", "ann", "ann", "ann", "bob", "cid"]);
  });

  it("refuses a search that waits too long, and one whose client has gone", async () => {
    const { search, ends } = open({ maxWaitMs: 1 });
    const first = [search("ann"), search("ann")];
    await expect(search("ann")).rejects.toMatchObject({
      code: "busy",
      details: { headers: { "Retry-After": "5" } },
    });
    await expect(search("ann", AbortSignal.abort())).rejects.toMatchObject({ code: "request_timeout" });
    for (const end of ends) end();
    expect(await Promise.all(first)).toEqual(["ann", "ann"]);
  });

  it("passes on the error of a search, and gives back its place", async () => {
    const { limit, search, ends } = open();
    const { signal } = new AbortController();
    for (let failed = 0; failed < 4; failed += 1)
      await expect(
        limit({ owner: "ann", signal }, () => Promise.reject(new Error("broken"))),
      ).rejects.toThrow("broken");
    const last = search("ann");
    await nextTurn();
    ends[0]!();
    expect(await last).toBe("ann");
  });
});
