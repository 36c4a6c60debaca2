import { describe, expect, it } from "vitest";
import { agreedClock } from "../../src/core/agreed-clock.ts";
import { HOUR, iso } from "../../src/core/clock.ts";
import { testEngine } from "../support/engine.ts";
import { fakeClock } from "../support/clock.ts";

describe("a claim after the wall clock was set", () => {
  it("takes the slot of a rate, although the monotonic clock has fractions of a millisecond", async () => {
    const wall = fakeClock();
    let monotonic = 5_000.25;
    const clock = Object.assign(
      agreedClock(wall, () => monotonic),
      { advance: wall.advance },
    );
    const { transaction } = await testEngine({ clock });
    await transaction((tx) =>
      tx.jobs.add({
        runId: "run_1",
        stepId: "a",
        item: null,
        kind: "step",
        priority: 0,
        dueAt: null,
        resource: null,
        rate: { key: "step:flow/a@1/s", intervalMs: 1_000 },
        attempt: 1,
        retryCount: 0,
      }),
    );
    wall.advance(HOUR);
    monotonic += 0.4387;
    const options = { now: iso(clock.now()), limit: 1, limits: new Map(), quarantined: "skip" } as const;
    const claimed = await transaction((tx) => tx.jobs.claim("exe_1", options));
    expect(claimed).toMatchObject([{ stepId: "a", rateSlots: [{ nextAt: clock.now() + 1_000 }] }]);
  });
});
