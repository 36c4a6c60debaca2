/** Values of runs go out in the name of who last set where they go, and only while they may read them. */
import { describe, expect, it } from "vitest";
import { redeliver } from "../../../../tools/subscriptions/redeliver.ts";
import { getSubscription } from "../../../../tools/subscriptions/get-subscription.ts";
import { updateSubscription } from "../../../../tools/subscriptions/update-subscription.ts";
import { DAY, HOUR, iso } from "../../../../src/core/clock.ts";
import { rotateKey } from "../../../../src/auth/api-keys.ts";
import { apiClient } from "../../../support/http.ts";
import { addMember, addProject } from "../../../support/projects.ts";
import { eventReceiver, subscriptionHarness, SUCCEEDS } from "../../../support/subscriptions.ts";
import { addUser } from "../../../support/users.ts";

const EVE = "eve@example.com";
/** How long the key of Eve is valid, in milliseconds. */
const KEY_LIFETIME = 2 * DAY;
const ALL = ["read", "write", "publish", "run", "approve", "admin"] as const;

/** A subscription of root with values, which a key of Eve changes: both administer the project `finance`. */
async function open({
  key: fields = {},
  set,
}: {
  key?: object;
  /** What Eve changes; default: the URL. */
  set?: object;
} = {}) {
  let status = 204;
  const receiver = await eventReceiver((response) => response.writeHead(status).end());
  const harness = await subscriptionHarness({ hosts: [receiver.host] });
  const { instance } = harness;
  await addProject(instance, "finance");
  await addUser(instance, { email: EVE, role: "viewer" });
  await addMember(instance, { project: "finance", email: EVE, role: "admin" });
  const { value, record: key } = await instance.key({
    owner: EVE,
    scopes: [...ALL],
    projects: ["finance"],
    expiresAt: iso(harness.clock.now() + KEY_LIFETIME),
    ...fields,
  });
  const { url } = await instance.rest({ config: { http: { allowed_hosts: [receiver.host] } } });
  const { id, secret } = await harness.subscribe({
    url: `${receiver.url}/of-root`,
    project: "finance",
    events: ["run.succeeded"],
    include_values: true,
  });
  const workflow = await harness.publish("Good", SUCCEEDS, { project: "finance" });
  const eve = apiClient(url, value);
  const change = await eve("PATCH", `/subscriptions/${id}`, set ?? { url: `${receiver.url}/of-eve` });
  expect(change.status).toBe(200);
  return {
    ...harness,
    id,
    key,
    receiver,
    answer: (next: number) => void (status = next),
    /** Runs the workflow, and returns what was received last. */
    async deliver(n: number) {
      await harness.run(workflow, { n });
      await harness.settle();
      return receiver.verified(secret!).at(-1)!.data;
    },
    last: () => receiver.verified(secret!).at(-1)!.data,
    subscription: () => harness.call(getSubscription, { subscription_id: id }),
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

const removeMember = ({ instance }: Opened) =>
  instance.store.transaction((trx) => trx.deleteFrom("project_members").where("email", "=", EVE).execute());
const deactivate = ({ instance }: Opened) =>
  instance.store.transaction((trx) =>
    trx.updateTable("users").set({ status: "deactivated" }).where("email", "=", EVE).execute(),
  );

describe("Values of runs", () => {
  it.each<[string, string, (opened: Opened) => unknown]>([
    ["is no member any more", "can't read runs of this project", removeMember],
    ["is not active any more", "is not an active user", deactivate],
    [
      "used a key that was revoked since",
      "is revoked or has expired",
      ({ instance, key, clock }) => instance.keys.revoke(key.id, iso(clock.now()), EVE),
    ],
    [
      "used a key that has expired since",
      "is revoked or has expired",
      ({ clock }) => clock.advance(KEY_LIFETIME),
    ],
    [
      "used a key that has left the project",
      "may not read these runs",
      ({ instance, key }) =>
        instance.store.transaction((trx) =>
          trx.updateTable("api_keys").set({ projects: "[]" }).where("id", "=", key.id).execute(),
        ),
    ],
  ])("are not delivered to a URL that somebody set who %s", async (_, reason, lose) => {
    const opened = await open();
    expect(await opened.deliver(7)).toMatchObject({ values: { inputs: { n: 7 } } });
    expect(await opened.subscription()).toMatchObject({ confirmed_by: EVE, values_withheld: null });
    await lose(opened);
    const { run, ...rest } = await opened.deliver(8);
    // The event itself is that of the project, whose admins manage the subscription.
    expect(run).toMatchObject({ status: "succeeded" });
    expect(rest).toMatchObject({
      values: null,
      values_omitted: expect.stringContaining("may not read them"),
    });
    expect(JSON.stringify(rest)).not.toContain(EVE);
    expect(await opened.subscription()).toMatchObject({ values_withheld: expect.stringContaining(reason) });
  });

  it("are not delivered to where somebody only switched them on who has lost the project", async () => {
    const opened = await open({ set: { include_values: true } });
    expect(await opened.deliver(7)).toMatchObject({ values: { inputs: { n: 7 } } });
    await removeMember(opened);
    expect(await opened.deliver(8)).toMatchObject({ values: null });
  });

  it("are left out by the attempts after the loss: of what is pending, and of what is sent again", async () => {
    const opened = await open();
    opened.answer(503);
    expect(await opened.deliver(7)).toMatchObject({ values: { inputs: { n: 7 } } });
    await removeMember(opened);
    opened.answer(204);
    opened.clock.advance(HOUR);
    await opened.settle();
    expect(opened.last()).toMatchObject({ values: null });
    const [delivery] = await opened.deliveries();
    expect(delivery).toMatchObject({ state: "delivered", attempts: 2 });
    await addMember(opened.instance, { project: "finance", email: EVE, role: "viewer" });
    await opened.call(redeliver, { delivery_id: delivery!.id });
    await opened.settle();
    expect(opened.last()).toMatchObject({ values: { inputs: { n: 7 } } });
    await removeMember(opened);
    await opened.call(redeliver, { delivery_id: delivery!.id });
    await opened.settle();
    expect(opened.last()).toMatchObject({ values: null });
  });

  it("are delivered again once somebody who may read them confirms the subscription, and by no other change", async () => {
    const opened = await open();
    await removeMember(opened);
    const update = (change: object) =>
      opened.call(updateSubscription, { subscription_id: opened.id, ...change });
    await update({ name: "Renamed", events: ["run.succeeded", "run.failed"] });
    await update({ paused: true });
    await update({ paused: false });
    expect(await opened.deliver(7)).toMatchObject({ values: null });
    const confirmed = await update({ include_values: true });
    expect(confirmed).toMatchObject({ confirmed_by: "root@example.com", values_withheld: null });
    expect(await opened.deliver(8)).toMatchObject({ values: { inputs: { n: 8 } } });
  });

  it("are delivered in the name of a key that was rotated, until its successor ends", async () => {
    const opened = await open();
    const { instance, key, clock } = opened;
    const stored = (await instance.keys.find(key.id))!;
    const { record: next } = await rotateKey(instance.keys, clock, stored, { overlap: 0 });
    clock.advance(HOUR);
    expect(await opened.deliver(7)).toMatchObject({ values: { inputs: { n: 7 } } });
    await instance.keys.revoke(next.id, iso(clock.now()), EVE);
    expect(await opened.deliver(8)).toMatchObject({ values: null });
  });

  it("are not delivered in the name of a key that may not read them itself", async () => {
    const opened = await open({ key: { limits: { tools: ["update_subscription"] } } });
    expect(await opened.deliver(7)).toMatchObject({ values: null });
    expect(await opened.subscription()).toMatchObject({
      values_withheld: expect.stringContaining("may not read these runs"),
    });
  });

  it("hold no URL of an event for a key that may not run anything", async () => {
    const opened = await open({ key: { scopes: ["read", "admin"] } });
    const workflow = await opened.publish(
      "Passes it on",
      {
        steps: [
          { id: "link", type: "set", values: { url: "${{ run.event_urls.callback }}" } },
          { id: "callback", type: "wait", event: {}, timeout: "1m", on_error: "continue" },
        ],
        output: "${{ steps.link.url }}",
      },
      { project: "finance" },
    );
    await opened.run(workflow);
    opened.clock.advance(HOUR);
    await opened.settle();
    expect(opened.last()).toMatchObject({ values: { output: expect.stringMatching(/\.callback\.\*{32}$/) } });
  });
});
