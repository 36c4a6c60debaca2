import { describe, expect, it, vi } from "vitest";
import type { JobWriter } from "../../src/core/job-ports.ts";
import type { EngineWriters } from "../../src/core/run-ports.ts";
import { lostClaims } from "../../src/queue/lost-claims.ts";

interface Claim {
  id: number;
  fence: number;
}

function open() {
  /** What the database says, and what runs. */
  const claimed: Claim[] = [];
  const running: Claim[] = [];
  const releaseLost = vi.fn<JobWriter["releaseLost"]>(async (_, claims) => claims.length);
  const warn = vi.fn<(fields: unknown, message?: string) => void>();
  const claims = lostClaims({
    executor: "exe_1",
    jobs: { claimedBy: async () => [...claimed] },
    running: { has: ({ id, fence }) => running.some((job) => job.id === id && job.fence === fence) },
    commit: (change) => change({ jobs: { releaseLost } } as unknown as EngineWriters),
    log: { warn },
  });
  return { claimed, running, claims, releaseLost, warn };
}

describe("a claim in the database of which an executor knows nothing", () => {
  it("is released, and no other one", async () => {
    const { claimed, running, claims, releaseLost, warn } = open();
    claimed.push({ id: 1, fence: 1 }, { id: 2, fence: 4 });
    // The end of an earlier claim of the second job is still being recorded.
    running.push({ id: 1, fence: 1 }, { id: 2, fence: 3 });
    await claims.release();
    expect(releaseLost.mock.calls).toEqual([["exe_1", [{ id: 2, fence: 4 }]]]);
    expect(warn).toHaveBeenCalledWith({ jobs: 1 }, expect.stringContaining("answer of a claim was lost"));
  });

  it("is not released before the claims that were open have ended", async () => {
    const { claimed, running, claims, releaseLost } = open();
    const answer = Promise.withResolvers<void>();
    const claiming = claims.during(async () => {
      await answer.promise;
      running.push({ id: 1, fence: 1 });
    });
    // Committed, and not answered yet.
    claimed.push({ id: 1, fence: 1 });
    const released = claims.release();
    answer.resolve();
    await Promise.all([claiming, released]);
    expect(releaseLost).not.toHaveBeenCalled();
  });

  it("is released when the claim that was open fails", async () => {
    const { claimed, claims, releaseLost } = open();
    const failure = Promise.withResolvers<void>();
    const claiming = claims.during(() => failure.promise);
    claimed.push({ id: 1, fence: 1 });
    const released = claims.release();
    failure.reject(new Error("The connection was lost."));
    await expect(claiming).rejects.toThrow("The connection was lost.");
    await released;
    expect(releaseLost).toHaveBeenCalledTimes(1);
  });

  it("costs one read while there is none", async () => {
    const { claimed, running, claims, releaseLost } = open();
    claimed.push({ id: 1, fence: 1 });
    running.push({ id: 1, fence: 1 });
    await claims.release();
    expect(releaseLost).not.toHaveBeenCalled();
  });
});
