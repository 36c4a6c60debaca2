import { describe, expect, it } from "vitest";
import { HOUR, iso, MINUTE } from "../../../../src/core/clock.ts";
import { addProject } from "../../../support/projects.ts";
import { MAIL_ENV, mailConfig } from "../../../support/decisions.ts";
import { smtpPeer } from "../../../support/mock-smtp-server.ts";
import { addUser } from "../../../support/users.ts";
import {
  eventReceiver,
  FAILS,
  payAt,
  silentBank,
  subscriptionHarness,
  SUCCEEDS,
} from "../../../support/subscriptions.ts";

const ASKS = { steps: [{ id: "ask", type: "approval", message: "Pay 4711 EUR?", timeout: "1d" }] };
const CALLS = { steps: [{ id: "child", type: "workflow", workflow: "child" }] };

describe("events", () => {
  it("tell that a run waits for an approval, and that a version was published", async () => {
    const receiver = await eventReceiver();
    const harness = await subscriptionHarness({ hosts: [receiver.host] });
    const { secret } = await harness.subscribe({
      url: receiver.url,
      events: ["run.waiting", "approval.requested", "workflow.published"],
    });
    const id = await harness.publish("Pay", ASKS);
    const run = await harness.run(id);
    await harness.settle();
    const events = receiver.verified(secret!).toSorted((a, b) => (a.type < b.type ? -1 : 1));
    expect(events).toMatchObject([
      {
        type: "approval.requested",
        data: {
          run: { id: run },
          approval: { step_id: "ask", url: expect.stringMatching(/\/ui\/approvals\/apr_/) },
        },
      },
      { type: "run.waiting", data: { run: { id: run, status: "waiting" } } },
      {
        type: "workflow.published",
        data: { workflow: { id }, version: 1, published_by: "root@example.com" },
      },
    ]);
    expect(JSON.stringify(receiver.received)).not.toContain("4711 EUR");
  });

  it("tell that the effect of an attempt is open, without values", async () => {
    const receiver = await eventReceiver();
    const bank = await silentBank();
    const harness = await subscriptionHarness({ hosts: [receiver.host, bank.host] });
    const { secret } = await harness.subscribe({ url: receiver.url, events: ["run.interrupted"] });
    const id = await harness.publish("Pay", payAt(bank.url));
    const run = await harness.run(id);
    await harness.settle();
    const [interruption] = await harness.interruptions();
    expect(receiver.verified(secret!)).toMatchObject([
      {
        type: "run.interrupted",
        data: {
          run: { id: run, url: expect.stringMatching(/\/ui\/runs\/run_/) },
          workflow: { id },
          interruption: { id: interruption!.id, step_id: "pay", attempt: 1, reason: "timeout" },
        },
      },
    ]);
    expect(JSON.stringify(receiver.received)).not.toContain("4711 EUR");
  });

  it("reach only the subscriptions whose events, workflows and tags fit", async () => {
    const receiver = await eventReceiver();
    const { subscribe, publish, run, settle } = await subscriptionHarness({ hosts: [receiver.host] });
    const child = await publish("Child", SUCCEEDS, { tags: ["Größe"] });
    const parent = await publish("Parent", CALLS);
    const of = (path: string, more: object) =>
      subscribe({ url: `${receiver.url}/${path}`, events: ["run.succeeded"], ...more });
    await of("all", {});
    await of("child", { workflows: [child] });
    await of("size", { tags: ["gro\u0308sse"] });
    await of("other-tag", { tags: ["sales"] });
    await of("failures", { events: ["run.failed"] });
    const bad = await publish("Bad", FAILS);
    for (const id of [parent, child, bad]) await run(id);
    await settle();
    const counts = Object.entries(Object.groupBy(receiver.received, ({ path }) => path)).map(
      ([path, requests]) => `${path} ${requests!.length}`,
    );
    // What a run starts is a part of it: only who names the workflow hears of it.
    expect(counts.toSorted()).toEqual(["/all 2", "/child 2", "/failures 1", "/size 1"]);
  });

  it("never go to private addresses that are not allowed, also not when a name begins to lead there", async () => {
    const receiver = await eventReceiver();
    const { subscribe, publish, run, settle, deliveries, instance } = await subscriptionHarness();
    await expect(subscribe({ url: receiver.url, events: ["run.succeeded"] })).rejects.toMatchObject({
      code: "invalid_input",
      details: { errors: [{ path: "url" }] },
    });
    await subscribe({ url: "https://example.com/", events: ["run.succeeded"] });
    await instance.store.transaction((trx) =>
      trx
        .updateTable("subscriptions")
        .set({ url: receiver.url.replace("127.0.0.1", "localhost") })
        .execute(),
    );
    await run(await publish("Good"));
    await settle();
    expect(receiver.received).toEqual([]);
    expect((await deliveries())[0]).toMatchObject({ state: "pending", attempts: 1, status: null });
  });

  it("follow no redirect, and stop for a receiver that is gone", async () => {
    let status = 302;
    const receiver = await eventReceiver((response) =>
      response.writeHead(status, { location: "/other" }).end(),
    );
    const { subscribe, publish, run, settle, deliveries, clock } = await subscriptionHarness({
      hosts: [receiver.host],
    });
    await subscribe({ url: receiver.url, events: ["run.succeeded"] });
    await run(await publish("Good"));
    await settle();
    expect((await deliveries())[0]).toMatchObject({
      status: 302,
      error: expect.stringContaining("not followed"),
    });
    status = 410;
    clock.advance(HOUR);
    await settle();
    expect(receiver.received.map(({ path }) => path)).toEqual(["/", "/"]);
    expect((await deliveries())[0]).toMatchObject({ state: "failed", status: 410 });
  });

  it("are mailed to the publisher and the recipients of the definition, if mail is configured", async () => {
    const smtp = await smtpPeer();
    const basic = {
      smtp_user: "m@example.com",
      smtp_password_var: "PW",
      smtp_server: "127.0.0.1",
      smtp_port: smtp.port,
    };
    const harness = await subscriptionHarness({
      config: { authentication: { basic }, mail: { allowed_domains: ["example.org"] } },
      env: { PW: "p" },
    });
    await harness.publish("Sync", { ...SUCCEEDS, must_succeed: { every: "1h", mail: ["ops@example.org"] } });
    await harness.instance.key({
      owner: "root@example.com",
      name: "ci",
      expiresAt: iso(harness.clock.now() + 14 * 24 * HOUR),
    });
    harness.clock.advance(HOUR + MINUTE);
    expect(await harness.executor.raiseOverdue()).toBe(1);
    await harness.settle();
    const recipients = () => smtp.received.map((mail) => /^To: (\S+)/m.exec(mail)![1]!).toSorted();
    expect(recipients()).toEqual(["ops@example.org", "root@example.com"]);
    expect(smtp.received[0]).toContain("Subject: Millrace: Sync is overdue");
    harness.clock.advance(10 * 24 * HOUR);
    expect(await harness.executor.noticeKeys()).toBe(1);
    await harness.settle();
    expect(smtp.received.at(-1)).toContain("Subject: Millrace: The API key ci expires");
  });

  it("of a workflow are not mailed to its publisher who can't read its project any more", async () => {
    const smtp = await smtpPeer();
    const basic = {
      smtp_user: "m@example.com",
      smtp_password_var: "PW",
      smtp_server: "127.0.0.1",
      smtp_port: smtp.port,
    };
    const harness = await subscriptionHarness({
      config: { authentication: { basic }, mail: { allowed_domains: ["example.org"] } },
      env: { PW: "p" },
    });
    await harness.publish("Sync", { ...SUCCEEDS, must_succeed: { every: "1h", mail: ["ops@example.org"] } });
    await addProject(harness.instance, "finance");
    await harness.instance.store.transaction((trx) =>
      trx.updateTable("users").set({ role: "member" }).where("email", "=", "root@example.com").execute(),
    );
    harness.clock.advance(HOUR + MINUTE);
    expect(await harness.executor.raiseOverdue()).toBe(1);
    await harness.settle();
    expect(smtp.received.map((mail) => /^To: (\S+)/m.exec(mail)![1]!)).toEqual(["ops@example.org"]);
  });

  it("are mailed later where the limit of who published the workflow is reached, and those about others at once", async () => {
    const smtp = await smtpPeer();
    const harness = await subscriptionHarness({
      config: mailConfig(smtp.port, { limits: { per_key: { mails_per_hour: 3 } } }),
      env: MAIL_ENV,
    });
    const mail = ["a@example.com", "b@example.com", "c@example.com"];
    await harness.publish("Sync", { ...SUCCEEDS, must_succeed: { every: "1h", mail } });
    await addUser(harness.instance, { email: "ann@example.com" });
    const expiresAt = iso(harness.clock.now() + 14 * 24 * HOUR);
    await harness.instance.key({ owner: "ann@example.com", name: "ci", expiresAt });
    harness.clock.advance(10 * 24 * HOUR);
    expect(await harness.executor.raiseOverdue()).toBe(1);
    expect(await harness.executor.noticeKeys()).toBe(1);
    await harness.settle();
    expect(smtp.received).toHaveLength(3);
    expect(smtp.received.filter((raw) => raw.includes("The API key ci expires"))).toHaveLength(1);
    harness.clock.advance(HOUR);
    await harness.settle();
    expect(smtp.received).toHaveLength(5);
  });
});
