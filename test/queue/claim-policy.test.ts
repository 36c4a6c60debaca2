import { describe, expect, it } from "vitest";
import { SECOND } from "../../src/core/clock.ts";
import { STOP_PRIORITY } from "../../src/core/model.ts";
import { claimPolicy as policyOf } from "../../src/queue/claim-policy.ts";
import { fakeClock } from "../support/clock.ts";
import { claimedJob } from "../support/run-records.ts";

const job = (quarantined = false) => claimedJob({ quarantined });

const claimPolicy = (slots: number, clock = fakeClock()) => policyOf(slots, clock);

describe("the claim policy", () => {
  it("claims as many jobs as there are free slots", () => {
    const policy = claimPolicy(3);
    expect(policy.next([])).toMatchObject({ limit: 3, quarantined: "isolate" });
    expect(policy.next([job(), job()])).toMatchObject({ limit: 1 });
    expect(policy.next([job(), job(), job()])).toMatchObject({ limit: 0 });
  });

  it("claims nothing beside a quarantined job, nor a quarantined job beside others", () => {
    const policy = claimPolicy(3);
    policy.next([]);
    policy.record([job(true)]);
    expect(policy.next([job(true)])).toBeUndefined();
    policy.record([]);
    expect(policy.next([job()])).toMatchObject({ quarantined: "drain" });
  });

  it("gives the other jobs one turn after a quarantined one", () => {
    const policy = claimPolicy(3);
    policy.record([job(true)]);
    expect(policy.next([])).toMatchObject({ limit: 3, quarantined: "skip" });
    policy.record([]);
    expect(policy.next([])).toMatchObject({ limit: 3, quarantined: "isolate" });
  });

  it("claims other jobs beside an isolated job that runs long", () => {
    const clock = fakeClock();
    const policy = claimPolicy(3, clock);
    policy.next([]);
    policy.record([job(true)]);
    clock.advance(10 * SECOND - 1);
    expect(policy.next([job(true)])).toBeUndefined();
    clock.advance(1);
    expect(policy.next([job(true)])).toMatchObject({ limit: 2, quarantined: "skip" });
  });

  it("runs quarantined jobs beside others when the executor does not become free in time", () => {
    const clock = fakeClock();
    const policy = claimPolicy(3, clock);
    const claimNothing = (): void => {
      expect(policy.next([job()])).toMatchObject({ limit: 2, quarantined: "drain" });
      policy.record([]);
    };
    claimNothing();
    clock.advance(10 * SECOND - 1);
    claimNothing();
    clock.advance(1);
    expect(policy.next([job()])).toMatchObject({ limit: 2, quarantined: "beside" });
    policy.record([job(true)]);
    expect(policy.next([job(), job(true)])).toMatchObject({ limit: 1, quarantined: "skip" });
    policy.record([job()]);
    expect(policy.next([job(), job(true)])).toMatchObject({ limit: 1, quarantined: "beside" });
    expect(policy.next([])).toMatchObject({ quarantined: "isolate" });
    expect(policy.next([job()])).toMatchObject({ quarantined: "drain" });
  });

  it("does not wait for a free executor while it claims other jobs", () => {
    const clock = fakeClock();
    const policy = claimPolicy(3, clock);
    policy.next([job()]);
    policy.record([]);
    clock.advance(SECOND);
    policy.next([job()]);
    policy.record([job()]);
    clock.advance(10 * SECOND);
    expect(policy.next([job()])).toMatchObject({ quarantined: "drain" });
  });

  it("counts the slots of each owner, but not those of jobs that stop work", () => {
    const policy = claimPolicy(4);
    const running = [job(), job(), { ...job(), subject: "bob" }, { ...job(), priority: STOP_PRIORITY }];
    expect(policy.next(running)).toMatchObject({
      limit: 1,
      held: new Map([
        ["ann@example.com", 2],
        ["bob", 1],
      ]),
    });
  });

  it("remembers whose turn it was, and the last workflow of each owner", () => {
    const policy = claimPolicy(4);
    expect(policy.next([])?.turns).toEqual({ owner: "", workflows: new Map() });
    policy.record([job(), { ...job(), subject: "bob", workflowId: "daily" }]);
    policy.record([]);
    expect(policy.next([])?.turns).toEqual({
      owner: "bob",
      workflows: new Map([
        ["ann@example.com", "weekly"],
        ["bob", "daily"],
      ]),
    });
  });

  it("forgets the owner whose turn was longest ago, beyond 10,000 owners", () => {
    const policy = claimPolicy(4);
    for (let owner = 0; owner <= 10_000; owner += 1) policy.record([{ ...job(), subject: `owner_${owner}` }]);
    const { workflows } = policy.next([])!.turns;
    expect([workflows.size, workflows.has("owner_0"), workflows.has("owner_1")]).toEqual([
      10_000,
      false,
      true,
    ]);
  });
});
