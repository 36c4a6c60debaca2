import { describe, expect, it } from "vitest";
import type { Job } from "../../src/core/model.ts";
import { claimPolicy } from "../../src/queue/claim-policy.ts";

const job = (quarantined = false): Job => ({
  id: 1,
  runId: "run_1",
  stepId: "a",
  item: null,
  kind: "step",
  priority: 0,
  resource: null,
  attempt: 1,
  retryCount: 0,
  fence: 1,
  quarantined,
  crashCount: 0,
});

describe("the claim policy", () => {
  it("claims as many jobs as there are free slots", () => {
    const policy = claimPolicy(3);
    expect(policy.next([])).toEqual({ limit: 3, quarantined: "isolate" });
    expect(policy.next([job(), job()])).toMatchObject({ limit: 1 });
    expect(policy.next([job(), job(), job()])).toBeUndefined();
  });

  it("claims nothing beside a quarantined job, nor a quarantined job beside others", () => {
    const policy = claimPolicy(3);
    expect(policy.next([job(true)])).toBeUndefined();
    expect(policy.next([job()])).toMatchObject({ quarantined: "drain" });
  });

  it("gives the other jobs one turn after a quarantined one", () => {
    const policy = claimPolicy(3);
    policy.record([job(true)]);
    expect(policy.next([])).toEqual({ limit: 3, quarantined: "skip" });
    policy.record([]);
    expect(policy.next([])).toEqual({ limit: 3, quarantined: "isolate" });
  });
});
