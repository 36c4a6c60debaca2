import { describe, expect, it } from "vitest";
import { iso, MINUTE } from "../../../../src/core/clock.ts";
import { engineTransaction } from "../../../../src/store/engine-transaction.ts";
import { eventReceiver, subscriptionHarness } from "../../../support/subscriptions.ts";

const OUTCOME = { state: "delivered", dueAt: null, status: 200, response: null, error: null, ms: 1 } as const;

async function open(runs: number) {
  const receiver = await eventReceiver();
  const harness = await subscriptionHarness({ hosts: [receiver.host] });
  const { id } = await harness.subscribe({ url: receiver.url, events: ["run.succeeded"] });
  const workflow = await harness.publish("Good");
  await harness.executor.deliverer.stop(0);
  for (let count = 0; count < runs; count += 1) await harness.run(workflow);
  const transaction = engineTransaction(harness.instance.store, harness.clock);
  const claim = (by: string, limit: number) =>
    transaction((tx) => {
      const now = harness.clock.now();
      return tx.deliveryQueue.claim(id, { now: iso(now), until: iso(now + MINUTE), by, limit });
    });
  return { ...harness, transaction, claim };
}

describe("claims of deliveries", () => {
  it("give each delivery to one of concurrent callers, and no more than asked for", async () => {
    const { claim } = await open(12);
    const claims = await Promise.all(Array.from({ length: 6 }, (_, index) => claim(`exe_${index}`, 3)));
    expect(claims.filter((claimed) => claimed.length > 3)).toEqual([]);
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await claim("exe_last", 12);
    expect(ids.length + rest.length).toBe(12);
    expect(await claim("exe_none", 12)).toEqual([]);
  });

  it("end by themselves, and at once when their executor is found dead; a late outcome is refused", async () => {
    const { claim, transaction, clock } = await open(1);
    const [first] = await claim("exe_dead", 1);
    await transaction((tx) => tx.jobs.reclaim("exe_dead"));
    const [second] = await claim("exe_slow", 1);
    expect(second).toMatchObject({ id: first!.id, attempts: 2 });
    expect(await claim("exe_other", 1)).toEqual([]);
    clock.advance(MINUTE);
    const [third] = await claim("exe_other", 1);
    const end = (delivery: typeof first) =>
      transaction((tx) => tx.deliveryQueue.recordAttempt(delivery!, { ...OUTCOME, at: iso(clock.now()) }));
    expect([await end(first), await end(second), await end(third), await end(third)]).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });
});
