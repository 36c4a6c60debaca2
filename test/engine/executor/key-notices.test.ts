import { describe, expect, it } from "vitest";
import { DAY, iso } from "../../../src/core/clock.ts";
import { addMember, addProject, memberOf } from "../../support/projects.ts";
import { eventReceiver, subscriptionHarness } from "../../support/subscriptions.ts";
import { createSubscription } from "../../../tools/subscriptions/create-subscription.ts";
import { addUser, callAs } from "../../support/users.ts";

describe("API keys that expire", () => {
  it("are reported seven days and one day before, once each", async () => {
    const receiver = await eventReceiver();
    const { clock, instance, executor, settle, subscribe } = await subscriptionHarness({
      hosts: [receiver.host],
    });
    const { secret } = await subscribe({ url: receiver.url, events: ["key.expiring"] });
    const { id } = (await instance.key({ name: "ci", expiresAt: iso(clock.now() + 30 * DAY) })).record;
    // Who creates a key for two days knows when it ends, but may forget the last day.
    await instance.key({ name: "short", expiresAt: iso(clock.now() + 2 * DAY) });
    await instance.key({ name: "for good", expiresAt: null });
    const noticesAfter = async (days: number): Promise<number> => {
      clock.advance(days * DAY);
      const count = await executor.noticeKeys();
      expect(await executor.noticeKeys()).toBe(0);
      return count;
    };
    expect([
      await noticesAfter(0),
      await noticesAfter(1),
      await noticesAfter(22),
      await noticesAfter(6),
      await noticesAfter(2),
    ]).toEqual([0, 1, 1, 1, 0]);
    await settle();
    // They may arrive in another order.
    const events = receiver.verified(secret!);
    expect(events.map(({ data }) => String(data["key_name"])).toSorted()).toEqual(["ci", "ci", "short"]);
    expect(events.find(({ data }) => data["key_name"] === "ci")).toMatchObject({
      type: "key.expiring",
      data: { key_id: id, owner: "operator", url: expect.stringMatching(/\/ui\/keys$/) },
    });
  });

  it("are not reported to who may not see them", async () => {
    const receiver = await eventReceiver();
    const { clock, instance, executor, settle, deliveries } = await subscriptionHarness({
      hosts: [receiver.host],
    });
    await addProject(instance, "finance");
    for (const email of ["ann@example.com", "bob@example.com"]) {
      await addUser(instance, { email, role: "member" });
      await addMember(instance, { project: "finance", email, role: "admin" });
      const principal = memberOf(["finance"], { scopes: ["read", "admin"], owner: email });
      await callAs(instance, principal)(createSubscription, {
        name: email,
        url: receiver.url,
        events: ["key.expiring"],
      });
    }
    await instance.key({
      owner: "bob@example.com",
      projects: ["finance"],
      expiresAt: iso(clock.now() + 30 * DAY),
    });
    clock.advance(25 * DAY);
    expect(await executor.noticeKeys()).toBe(1);
    await settle();
    expect(receiver.received).toHaveLength(1);
    expect(await deliveries()).toHaveLength(1);
  });
});
