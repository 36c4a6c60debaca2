/** Tasks that call other services: HTTP, a model, a helpdesk over MCP. */
import assert from "node:assert/strict";
import { assertLike } from "../judge.ts";
import type { Task } from "../task.ts";

const FEEDBACK: readonly (readonly [message: string, kind: string, answered: boolean])[] = [
  ["The cups arrived broken.", "complaint", false],
  ["Can I pay by invoice?", "question", false],
  ["Best tea in town.", "praise", false],
  ["My parcel is late again.", "complaint", false],
  ["Do you ship to Norway?", "question", true],
  ["Lovely packaging.", "praise", false],
  ["You sent the wrong colour.", "complaint", true],
  ["The handle is broken after a week.", "complaint", false],
];

const classify = (message: string): string =>
  /broken|late|wrong/.test(message) ? "complaint" : message.includes("?") ? "question" : "praise";

const feedback: Task = {
  id: "classify-feedback",
  subject: "A model with a structured answer, for each row",
  async prepare(world) {
    const model = await world.model((prompt) => {
      const messages = world
        .query(dataset, "select message from feedback")
        .map(({ message }) => message as string)
        .filter((message) => prompt.includes(message));
      // Several messages in one prompt confuse it, as the request says.
      return messages.length === 1 ? classify(messages[0]!) : "praise";
    });
    const row = ([message, , answered]: (typeof FEEDBACK)[number]): string =>
      `('${message}', ${answered ? 1 : 0})`;
    const dataset = world.sqlite(
      "support",
      `create table feedback (id integer primary key, message text not null, answered integer not null);
       insert into feedback (message, answered) values ${FEEDBACK.map(row).join(", ")}`,
    );
    return {
      request:
        'People leave messages in the table feedback of the database "support". Please make a workflow "Sort feedback" that has ' +
        'our model "assistant" decide for every message that is not answered yet whether it is a complaint, a question or ' +
        "praise. Show the model one message at a time; it gets confused otherwise. The workflow returns `counts` (an object " +
        "with the number of each: `complaint`, `question`, `praise`) and `complaints`, the ids of the complaints. Publish it.",
      config: {
        databases: [{ name: "support", type: "sqlite", dataset }],
        models: [
          { name: "assistant", vendor: "openai-compatible", model_ref: "m-1", base_url: `${model.url}/v1` },
        ],
      },
      async check(judge) {
        const id = await judge.published("Sort feedback");
        const compare = async (): Promise<void> => {
          const rows = world.query(
            dataset,
            "select id, message from feedback where answered = 0 order by id",
          );
          const of = (kind: string) => rows.filter(({ message }) => classify(message as string) === kind);
          const counts = {
            complaint: of("complaint").length,
            question: of("question").length,
            praise: of("praise").length,
          };
          const output = (await judge.output(id)) as { complaints: number[] };
          assertLike(output, { counts }, "counts");
          assertLike(
            output.complaints.toSorted((a, b) => a - b),
            of("complaint").map((it) => it["id"]),
            "complaints",
          );
        };
        await compare();
        world.query(
          dataset,
          "insert into feedback (message, answered) values ('Where is my order?', 0), ('The lid is broken.', 0), ('It came late.', 1)",
        );
        await compare();
        world.query(dataset, "update feedback set answered = 1");
        await compare();
      },
    };
  },
};

const openInvoices: Task = {
  id: "open-invoices",
  subject: "HTTP with pages and a service that is overloaded",
  async prepare(world) {
    const state = { pages: [[100, 0, 20.5], [0, 7], [3.25]], failed: new Set<number>() };
    const service = await world.http(({ path, query }) => {
      if (path !== "/invoices") return { status: 404, body: { error: "not found" } };
      const page = Number(query.get("page") ?? 1);
      // The first request for each page meets an overloaded service.
      if (!state.failed.has(page)) {
        state.failed.add(page);
        return { status: 503, body: { error: "overloaded" } };
      }
      const amounts = state.pages[page - 1];
      if (amounts === undefined) return { status: 404, body: { error: "no such page" } };
      return {
        body: {
          // Those of amount 0 are paid.
          items: amounts.map((amount, index) => ({
            number: `${page}-${index}`,
            amount: amount === 0 ? 55 : amount,
            paid: amount === 0,
          })),
          next: page < state.pages.length ? page + 1 : null,
        },
      };
    });
    return {
      request:
        `The billing service lists our invoices at ${service.url}/invoices, one page per answer: the number of the next page is in ` +
        "`next` (null on the last one) and is requested with ?page=2 and so on. Every now and then it is overloaded and answers " +
        '503 for a moment. I want a workflow "Open invoices" that returns how many invoices are not paid (`count`) and what ' +
        "they add up to (`total`). Publish it.",
      config: { http: { allowed_hosts: [service.host] } },
      async check(judge) {
        const id = await judge.published("Open invoices");
        const compare = async (pages: number[][]): Promise<void> => {
          Object.assign(state, { pages, failed: new Set() });
          const open = pages.flat().filter((amount) => amount > 0);
          const expected = { count: open.length, total: open.reduce((sum, amount) => sum + amount, 0) };
          assertLike(await judge.output(id), expected, `${pages.length} pages`);
        };
        await compare(state.pages);
        await compare([[1, 2], [0, 0], [3], [4.5, 0]]);
        await compare([[]]);
      },
    };
  },
};

const monthlyExport: Task = {
  id: "monthly-export",
  subject: "Starts a job elsewhere and asks until it is done",
  async prepare(world) {
    const state = { polls: 0, outcome: "done" };
    const service = await world.http(({ method, path, json }) => {
      if (method === "POST" && path === "/exports") {
        state.polls = 0;
        const { month } = (json ?? {}) as { month?: string };
        return month === undefined
          ? { status: 400, body: { error: "month is missing" } }
          : { status: 202, body: { id: `exp-${month}`, status: "running" } };
      }
      if (!path.startsWith("/exports/exp-")) return { status: 404, body: { error: "not found" } };
      state.polls += 1;
      const ended = state.polls > 3;
      return {
        body: ended
          ? { status: state.outcome, rows: state.outcome === "done" ? 4711 : null }
          : { status: "running" },
      };
    });
    return {
      request:
        `Our accounting exports a month when you POST {"month": "2026-05"} to ${service.url}/exports; the answer has an id. Then ` +
        `${service.url}/exports/<id> says its status: running, done or failed. Make a workflow "Monthly export" that takes the ` +
        "`month`, starts the export, asks every 10 seconds until it has ended (20 times at most), and returns `rows`, which the " +
        "answer has when it is done. If the export has failed or does not end, the run has to fail. Every export is charged, " +
        "so none may start before I use the workflow. Publish it; I will start it myself.",
      config: { http: { allowed_hosts: [service.host] } },
      async check(judge) {
        const id = await judge.published("Monthly export");
        const before = world.effects.length;
        assertLike(await judge.output(id, { month: "2026-05" }), { rows: 4711 }, "an export that succeeds");
        assert.equal(world.effects.length - before, 1, "One export has to be started, and no other.");
        state.outcome = "failed";
        assert.equal(
          (await judge.run(id, { month: "2026-06" })).status,
          "failed",
          "The export failed, the run did not.",
        );
        state.outcome = "running";
        assert.equal(
          (await judge.run(id, { month: "2026-07" })).status,
          "failed",
          "An export without end has to fail.",
        );
        assert.ok(state.polls <= 21, `It asked ${state.polls} times.`);
      },
    };
  },
};

const transferOrders: Task = {
  id: "transfer-orders",
  subject: "A POST for each row, of which some are refused",
  async prepare(world) {
    const refused = new Set([3, 6]);
    const sent: { id: number; total: number }[] = [];
    const service = await world.http(({ method, path, json }) => {
      if (method !== "POST" || path !== "/orders") return { status: 404, body: { error: "not found" } };
      const order = json as { id: number; total: number };
      sent.push(order);
      return refused.has(order.id)
        ? { status: 422, body: { error: "unknown item" } }
        : { status: 201, body: { ok: true } };
    });
    const dataset = world.sqlite(
      "orders",
      `create table orders (id integer primary key, total real not null, state text not null);
       insert into orders (total, state) values (10, 'new'), (20, 'sent'), (30, 'new'), (40, 'new'), (50, 'new'), (60, 'new')`,
    );
    return {
      request:
        `Every new order (state "new" in the database "orders") has to reach the warehouse: POST {"id": …, "total": …} to ` +
        `${service.url}/orders, one order at a time. The warehouse refuses some of them; then the others have to go through all the ` +
        'same. Make that a workflow "Transfer orders" which returns `accepted` (how many) and `refused` (the list of the ids ' +
        "of those that were refused). Publish it, but do not send anything: I start it tonight.",
      config: {
        databases: [{ name: "orders", type: "sqlite", dataset }],
        http: { allowed_hosts: [service.host] },
      },
      async check(judge) {
        const id = await judge.published("Transfer orders");
        assert.deepEqual(world.effects, [], "Nothing may be sent before the workflow is started.");
        const run = async (ids: number[]): Promise<void> => {
          sent.length = 0;
          const bad = ids.filter((it) => refused.has(it));
          const expected = { accepted: ids.length - bad.length, refused: bad };
          assertLike(await judge.output(id), expected, `orders ${ids.join(", ")}`);
          const received = sent.toSorted((a, b) => a.id - b.id);
          assertLike(
            received,
            ids.map((it) => ({ id: it, total: it * 10 })),
            "what the warehouse got",
          );
        };
        await run([1, 3, 4, 5, 6]);
        world.query(dataset, "update orders set state = 'sent' where id <> 3");
        await run([3]);
        world.query(dataset, "update orders set state = 'sent'");
        await run([]);
      },
    };
  },
};

const ticket = (id: string, customer: string, age_days: number, status: "open" | "closed" = "open") => ({
  id,
  customer,
  status,
  subject: `Ticket ${id}`,
  age_days,
});

const nudgeTickets: Task = {
  id: "nudge-tickets",
  subject: "Tools of an MCP server",
  async prepare(world) {
    const tickets = [
      ticket("T-1", "Ada", 5),
      ticket("T-2", "Ada", 3),
      ticket("T-3", "Ada", 9, "closed"),
      ticket("T-4", "Bob", 12),
      ticket("T-5", "Ada", 4),
    ];
    const helpdesk = await world.helpdesk(tickets);
    return {
      request:
        'Customers wait too long for us. Make a workflow "Nudge tickets" for our helpdesk: for a `customer` it adds the comment "We ' +
        'are on it." to each of their open tickets that is older than 3 days, and returns `commented`, the list of the ids of ' +
        "these tickets. Customers can read the comments, so write none while you set it up. Publish it.",
      config: { mcp_servers: [{ name: "helpdesk", url: helpdesk.url }] },
      async check(judge) {
        const id = await judge.published("Nudge tickets");
        assert.deepEqual(world.effects, [], "No comment may be written before the workflow is started.");
        const run = async (customer: string, ids: string[]): Promise<void> => {
          helpdesk.comments.length = 0;
          const { commented } = (await judge.output(id, { customer })) as { commented: string[] };
          assertLike(commented.toSorted(), ids, `tickets of ${customer}`);
          const expected = ids.map((ticket_id) => ({ ticket_id, text: "We are on it." }));
          assertLike(
            helpdesk.comments.toSorted((a, b) => a.ticket_id.localeCompare(b.ticket_id)),
            expected,
            "the comments",
          );
        };
        await run("Ada", ["T-1", "T-5"]);
        tickets.push(ticket("T-6", "Bob", 4));
        await run("Bob", ["T-4", "T-6"]);
        await run("Nobody", []);
      },
    };
  },
};

export const serviceTasks: readonly Task[] = [
  feedback,
  openInvoices,
  monthlyExport,
  transferOrders,
  nudgeTickets,
];
