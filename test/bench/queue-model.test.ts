import { describe, expect, it } from "vitest";
import { meanWaitOfQueue } from "../../bench/simulation/erlang-c.ts";
import { type OwnerLoad, type Scenario, simulate } from "../../bench/simulation/queue-model.ts";

const owner = (name: string, more: Partial<OwnerLoad> = {}): OwnerLoad => ({
  name,
  rate: 1,
  steps: 1,
  stepTime: 0.1,
  ...more,
});
const scenario = (more: Partial<Scenario> & Pick<Scenario, "owners">): Scenario => ({
  executors: 1,
  slots: 8,
  order: "turns",
  duration: 600,
  seed: 1,
  ...more,
});
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const longest = (values: readonly number[]): number =>
  values.reduce((most, value) => Math.max(most, value), 0);

describe("the model of the queue", () => {
  it.each([4, 16])("waits as long as the formula of Erlang says, with %s slots", (slots) => {
    const load = 0.8 * slots;
    const results = simulate(
      scenario({
        owners: [owner("a", { rate: load, stepTime: 1 })],
        slots,
        order: "arrival",
        duration: 80_000 / slots,
      }),
    );
    const { waits } = results.get("a")!;
    expect(mean(waits) / meanWaitOfQueue(slots, load)).toBeGreaterThan(0.85);
    expect(mean(waits) / meanWaitOfQueue(slots, load)).toBeLessThan(1.15);
  });

  it("delays an owner behind the backlog of another by arrival, and by little in turns", () => {
    const owners = [owner("many", { rate: 0, backlog: 10_000 }), owner("few")];
    const byArrival = simulate(scenario({ owners, order: "arrival" })).get("few")!;
    const inTurns = simulate(scenario({ owners })).get("few")!;
    expect(longest(byArrival.waits)).toBeGreaterThan(100);
    expect(longest(inTurns.waits)).toBeLessThan(0.5);
  });

  it("refuses the excess of an overload, and none of others", () => {
    const owners = [owner("overloading", { rate: 200 }), owner("other")];
    const results = simulate(scenario({ owners, maxQueueAge: 10 }));
    const { refused, started, waits } = results.get("overloading")!;
    expect(refused / (refused + started)).toBeGreaterThan(0.5);
    // What is accepted until the oldest job is too old waits for the rest of it: 10 s times offered to served load.
    expect(longest(waits)).toBeGreaterThan(20);
    expect(longest(waits)).toBeLessThan(45);
    expect(results.get("other")!.refused).toBe(0);
  });

  it("runs the steps of a dead executor again, and finishes each run once", () => {
    const results = simulate(
      scenario({ owners: [owner("a", { steps: 3 })], executors: 2, death: { at: 300, lease: 10 } }),
    );
    const { started, finished, runs } = results.get("a")!;
    expect(runs).toHaveLength(finished);
    expect(started - finished).toBeLessThan(5);
  });

  it("ends no more steps per second than the database commits", () => {
    const owners = [owner("a", { rate: 0, backlog: 20_000, stepTime: 0.001 })];
    const { finished } = simulate(
      scenario({ owners, commits: { parallel: 2, time: 0.02 }, duration: 60 }),
    ).get("a")!;
    expect(finished).toBeGreaterThan(5_900);
    expect(finished).toBeLessThanOrEqual(6_000);
  });
});
