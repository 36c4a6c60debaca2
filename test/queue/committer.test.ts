import { describe, expect, it } from "vitest";
import type { EngineTransaction, EngineWriters } from "../../src/core/run-ports.ts";
import { committer } from "../../src/queue/committer.ts";
import { testQueues } from "../support/queue.ts";

async function counted() {
  const it_ = await testQueues();
  const seen = { transactions: 0 };
  const transaction: EngineTransaction = (work) => {
    seen.transactions += 1;
    return it_.transaction(work);
  };
  const beat = (id: string) => (tx: EngineWriters) => tx.jobs.heartbeat(id, it_.now()).then(() => id);
  const there = async (): Promise<string[]> =>
    (await it_.read.jobs.executors()).map((one) => one.id).toSorted();
  return { ...committer(transaction), seen, beat, there };
}

describe("the committer", () => {
  it("commits what comes together in one transaction, and gives each its own value", async () => {
    const { commit, seen, beat, there } = await counted();
    expect(await Promise.all(["a", "b", "c"].map((id) => commit(beat(id))))).toEqual(["a", "b", "c"]);
    expect(seen.transactions).toBe(1);
    expect(await there()).toEqual(["a", "b", "c"]);
  });

  it("lets what comes during a commit go into the next one", async () => {
    const { commit, seen, beat } = await counted();
    const inside = Promise.withResolvers<void>();
    const first = commit(async (tx) => {
      await inside.promise;
      return beat("a")(tx);
    });
    await Promise.resolve();
    const others = [commit(beat("b")), commit(beat("c"))];
    inside.resolve();
    expect(await Promise.all([first, ...others])).toEqual(["a", "b", "c"]);
    expect(seen.transactions).toBe(2);
  });

  it("lets a change that fails take nobody with it, and tells only its own caller", async () => {
    const { commit, beat, there } = await counted();
    const fails = commit(async (tx) => {
      await beat("half")(tx);
      throw new Error("no");
    });
    const all = await Promise.allSettled([commit(beat("a")), fails, commit(beat("b"))]);
    expect(all.map((one) => one.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(all[1]).toMatchObject({ reason: { message: "no" } });
    expect(await there()).toEqual(["a", "b"]);
  });
});
