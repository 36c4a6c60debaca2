/** Tasks that notify people: by mail, after an approval, on a schedule, when something failed, or not at all. */
import assert from "node:assert/strict";
import type { z } from "zod";
import type { Config } from "../../../schemas/config.ts";
import { assertLike } from "../judge.ts";
import type { MailPeer } from "../peers/mail-peer.ts";
import type { Task } from "../task.ts";

/** The configuration of mail through a server on this machine. */
const mailConfig = ({ port }: MailPeer): z.input<typeof Config> => ({
  mail: { allowed_domains: ["example.com"] },
  authentication: {
    basic: {
      smtp_user: "millrace@example.com",
      smtp_password_var: "SMTP_PASSWORD",
      smtp_server: "127.0.0.1",
      smtp_port: port,
    },
  },
});

const paymentReminder: Task = {
  id: "payment-reminder",
  subject: "A mail after an approval",
  async prepare(world) {
    const mail = await world.mail();
    const dataset = world.sqlite(
      "billing",
      `create table customers (id integer primary key, name text not null, email text not null);
       create table invoices (number text primary key, customer_id integer not null, amount real not null, due_on text not null, paid_on text);
       insert into customers values (1, 'Ada', 'ada@example.com'), (2, 'Bob', 'bob@example.com'), (3, 'Cleo', 'cleo@example.com');
       insert into invoices values
         ('R-101', 1, 120.5, '2026-10-01', null), ('R-102', 1, 30, '2026-11-01', '2026-11-02'),
         ('R-103', 1, 79.5, '2026-11-10', null), ('R-104', 1, 500, '2027-01-31', null),
         ('R-105', 2, 60, '2026-09-15', null), ('R-106', 3, 80, '2027-02-01', null), ('R-107', 3, 5, '2026-08-01', '2026-08-01')`,
    );
    return {
      request:
        'Some customers pay late. Make a workflow "Payment reminder" that takes the number of a `customer` and sends them a mail ' +
        "with the numbers of their overdue invoices (not paid, and due before today) and what these add up to; everything is " +
        'in the database "billing". Before a mail goes out, one of us has to agree to it, and if we decline, nothing is sent. ' +
        "If nothing is overdue, nobody is asked and nothing is sent. It returns `sent`, true or false. Publish it; no customer " +
        "may get a mail while you set it up.",
      config: {
        databases: [{ name: "billing", type: "sqlite", dataset }],
        approvals: { by_starter: true },
        ...mailConfig(mail),
      },
      async check(judge) {
        const id = await judge.published("Payment reminder");
        assert.deepEqual(world.effects, [], "No mail may be sent before the workflow is started.");
        assertLike(await judge.output(id, { customer: 1 }, "approve"), { sent: true }, "approved");
        assertLike(
          mail.mails.map(({ to }) => to),
          [["ada@example.com"]],
          "the addresses of the mails",
        );
        const { text } = mail.mails[0]!;
        for (const part of ["R-101", "R-103", "200"])
          assert.ok(text.includes(part), `The mail lacks ${part}: ${text}`);
        for (const part of ["R-102", "R-104"])
          assert.ok(!text.includes(part), `The mail must not name ${part}.`);
        assertLike(await judge.output(id, { customer: 2 }, "decline"), { sent: false }, "declined");
        // Without a decision, a question to somebody would wait for ever.
        assertLike(await judge.output(id, { customer: 3 }), { sent: false }, "nothing overdue");
        assert.equal(mail.mails.length, 1, "Only the approved mail may be sent.");
      },
    };
  },
};

const joined = (day: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `('${day} ${index}', '${day}')`).join(", ");

const mondayReport: Task = {
  id: "monday-report",
  subject: "A schedule in a time zone",
  async prepare(world) {
    const mail = await world.mail();
    const dataset = world.sqlite(
      "crm",
      `create table customers (id integer primary key, name text not null, joined_on text not null);
       insert into customers (name, joined_on) values ${joined("2026-11-15", 4)}, ${joined("2026-11-16", 6)},
         ${joined("2026-11-19", 30)}, ${joined("2026-11-22", 5)}, ${joined("2026-11-23", 8)}`,
    );
    return {
      request:
        "Every Monday at half past seven in the morning (we are in Berlin) team@example.com should get a mail with the number " +
        'of customers who joined in the week before, Monday to Sunday. The customers are in the database "crm". Call it "Monday ' +
        'report", and have it running from the next Monday on.',
      config: { databases: [{ name: "crm", type: "sqlite", dataset }], ...mailConfig(mail) },
      async check(judge) {
        await judge.published("Monday report");
        const before = mail.mails.length;
        const { clock, executor } = judge.millrace;
        const advanceTo = async (time: string): Promise<void> => {
          clock.advance(Date.parse(time) - clock.now());
          await executor.startDueRuns();
          await judge.settle();
        };
        await advanceTo("2026-11-23T06:29:00Z");
        assert.equal(mail.mails.length, before, "The mail came before Monday, 7:30 in Berlin.");
        await advanceTo("2026-11-23T06:30:05Z");
        assert.equal(mail.mails.length, before + 1, "There was no mail on Monday at 7:30 in Berlin.");
        const { to, text } = mail.mails.at(-1)!;
        assertLike(to, ["team@example.com"], "the address");
        assert.match(text.slice(text.search(/\n\s*\n/)), /\b41\b/, "The week before had 41 new customers.");
      },
    };
  },
};

const nightlyImport: Task = {
  id: "nightly-import",
  subject: "A mail when a run has failed",
  async prepare(world) {
    const mail = await world.mail();
    const state = {
      status: 200,
      items: [
        { sku: "A", stock: 3 },
        { sku: "B", stock: 9 },
      ],
    };
    const service = await world.http(({ path }) =>
      path === "/feed" ? { status: state.status, body: { items: state.items } } : { status: 404, body: {} },
    );
    return {
      request:
        `Make a workflow "Nightly import" that reads ${service.url}/feed and returns \`items\` (how many items the feed has) and ` +
        "`stock` (the sum of their stock). Whenever one of its runs fails, for whatever reason, ops@example.com should get a " +
        "mail that says which workflow failed and what the error was. Publish what is needed.",
      config: { http: { allowed_hosts: [service.host] }, ...mailConfig(mail) },
      async check(judge) {
        const id = await judge.published("Nightly import");
        const before = mail.mails.length;
        state.items.push({ sku: "C", stock: 30 });
        assertLike(await judge.output(id), { items: 3, stock: 42 }, "a feed");
        state.items.length = 0;
        assertLike(await judge.output(id), { items: 0, stock: 0 }, "an empty feed");
        assert.equal(mail.mails.length, before, "A run that succeeds is nothing to tell.");
        state.status = 418;
        assert.equal((await judge.run(id)).status, "failed", "A run without a feed has to fail.");
        await judge.settle();
        assert.equal(mail.mails.length, before + 1, "There has to be one mail about the failed run.");
        const { to, text } = mail.mails.at(-1)!;
        assertLike(to, ["ops@example.com"], "the address");
        assert.match(text, /nightly[- ]import/i, "The mail does not name the workflow.");
        assert.match(text, /418/, "The mail does not say what the error was.");
      },
    };
  },
};

const dailyTotals: Task = {
  id: "daily-totals",
  subject: "A check that stops a run before it sends something",
  async prepare(world) {
    const published: unknown[] = [];
    const service = await world.http(({ method, path, json }) => {
      if (method !== "POST" || path !== "/totals") return { status: 404, body: { error: "not found" } };
      published.push(json);
      return { status: 201, body: { ok: true } };
    });
    const counts = { "2026-11-10": 10, "2026-11-11": 9, "2026-11-12": 7, "2026-11-13": 20, "2026-11-14": 16 };
    const rows = Object.entries(counts).flatMap(([day, count]) =>
      Array.from({ length: count }, () => `('${day}', 12.5)`),
    );
    const dataset = world.sqlite(
      "ledger",
      `create table bookings (id integer primary key, booked_on text not null, amount real not null);
       insert into bookings (booked_on, amount) values ${rows.join(", ")}`,
    );
    return {
      request:
        'We publish how much was booked each day (database "ledger"). I need a workflow "Daily totals" which takes a `day` such ' +
        "as 2026-11-11. Sometimes the import was incomplete: if the day has fewer than 80 % of the bookings of the day before, " +
        `the run must fail with a message that says both numbers of bookings, and nothing is sent. Otherwise it sends POST ` +
        `{"day": …, "bookings": …, "amount": …} to ${service.url}/totals and returns \`bookings\` and \`amount\`. Nothing may be ` +
        "sent before I start it. Publish it.",
      config: {
        databases: [{ name: "ledger", type: "sqlite", dataset }],
        http: { allowed_hosts: [service.host] },
      },
      async check(judge) {
        const id = await judge.published("Daily totals");
        assert.deepEqual(world.effects, [], "Nothing may be sent before the workflow is started.");
        const good = async (day: string, bookings: number): Promise<void> => {
          published.length = 0;
          const expected = { bookings, amount: bookings * 12.5 };
          assertLike(await judge.output(id, { day }), expected, day);
          assertLike(published, [{ day, ...expected }], `what was sent for ${day}`);
        };
        await good("2026-11-11", 9);
        await good("2026-11-14", 16);
        published.length = 0;
        const stopped = await judge.run(id, { day: "2026-11-12" });
        assert.equal(stopped.status, "failed", "A day with 7 bookings after one with 9 has to stop the run.");
        const message = stopped.error?.message ?? "";
        assert.ok(
          /\b7\b/.test(message) && /\b9\b/.test(message),
          `The message lacks the numbers: ${message}`,
        );
        assert.deepEqual(published, [], "Nothing may be sent for an incomplete day.");
      },
    };
  },
};

export const mailTasks: readonly Task[] = [paymentReminder, mondayReport, nightlyImport, dailyTotals];
