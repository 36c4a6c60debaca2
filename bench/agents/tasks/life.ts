/** Tasks about workflows over time: what they remember, call, and how they are repaired and changed. */
import assert from "node:assert/strict";
import type { Run } from "../../../schemas/run.ts";
import { assertLike } from "../judge.ts";
import type { Task } from "../task.ts";

const newOrders: Task = {
  id: "new-orders",
  subject: "What is new since the last run",
  prepare(world) {
    const dataset = world.sqlite(
      "orders",
      `create table orders (id integer primary key, customer text not null, total real not null);
       insert into orders (customer, total) values ('Ada', 10), ('Bob', 20), ('Cleo', 30)`,
    );
    const add = (...customers: string[]): void => {
      for (const customer of customers)
        world.query(dataset, "insert into orders (customer, total) values (?, 1)", customer);
    };
    return {
      request:
        'I want a workflow "New orders" on the database "orders". Whenever I run it, it returns in `orders` those orders (`id` ' +
        "and `customer`, in the order of the ids) that it has not returned in an earlier run; the first time that is all of " +
        "them. Publish it.",
      config: { databases: [{ name: "orders", type: "sqlite", dataset }] },
      async check(judge) {
        const id = await judge.published("New orders");
        // The agent may have run it, so what is new for the first run is not known.
        await judge.output(id);
        add("Dora", "Emil");
        const expected = [
          { id: 4, customer: "Dora" },
          { id: 5, customer: "Emil" },
        ];
        assertLike(await judge.output(id), { orders: expected }, "after two orders");
        assertLike(await judge.output(id), { orders: [] }, "when nothing is new");
        add("Fay");
        assertLike(await judge.output(id), { orders: [{ id: 6, customer: "Fay" }] }, "after one more");
      },
    };
  },
};

const quote = (factor: string) => ({
  inputs: {
    type: "object",
    properties: { sku: { type: "string" }, quantity: { type: "integer", minimum: 1 } },
    required: ["sku", "quantity"],
  },
  steps: [
    {
      id: "product",
      type: "sql",
      database: "shop",
      query: "SELECT price FROM products WHERE sku = :sku",
      params: { sku: "${{ inputs.sku }}" },
    },
  ],
  output: { price: `\${{ steps.product.rows[0].price * inputs.quantity${factor} }}` },
});

const quoteBasket: Task = {
  id: "quote-basket",
  subject: "Uses another workflow for each row",
  prepare(world) {
    const dataset = world.sqlite(
      "shop",
      `create table products (sku text primary key, price real not null);
       insert into products values ('TEA', 4.5), ('CUP', 12), ('POT', 40)`,
    );
    return {
      request:
        'Our workflow "Quote price" says what a number of pieces of one product costs. Now I need "Quote basket": it takes ' +
        "`lines`, a list of `sku` and `quantity`, and returns `prices`, the price of each line in their order, and `total`. The " +
        "rules for prices must stay in one place: when we change Quote price, baskets have to follow. Publish it.",
      config: { databases: [{ name: "shop", type: "sqlite", dataset }] },
      seed: async (judge) =>
        void (await judge.publish("Quote price", "The price of some pieces of a product.", quote(""))),
      async check(judge) {
        const id = await judge.published("Quote basket");
        const lines = [
          { sku: "POT", quantity: 1 },
          { sku: "TEA", quantity: 4 },
        ];
        assertLike(await judge.output(id, { lines }), { prices: [40, 18], total: 58 }, "two lines");
        const rule = await judge.published("Quote price");
        await judge.millrace.operate("update_workflow", { workflow_id: rule, definition: quote(" * 0.5") });
        await judge.millrace.operate("publish_workflow", { workflow_id: rule });
        assertLike(
          await judge.output(id, { lines }),
          { prices: [20, 9], total: 29 },
          "after a change of the rules",
        );
        const cups = [{ sku: "CUP", quantity: 2 }];
        assertLike(await judge.output(id, { lines: cups }), { prices: [12], total: 12 }, "one line");
      },
    };
  },
};

const stockValue: Task = {
  id: "stock-value",
  subject: "Finds out why a run failed, and repairs it",
  prepare(world) {
    const dataset = world.sqlite(
      "stock",
      `create table goods (id integer primary key, warehouse text not null, quantity integer not null, price real);
       insert into goods (warehouse, quantity, price) values
         ('A', 2, 10), ('A', 1, 5.5), ('B', 3, 7), ('B', 10, null), ('B', 1, 100)`,
    );
    const definition = {
      inputs: { type: "object", properties: { warehouse: { type: "string" } }, required: ["warehouse"] },
      steps: [
        {
          id: "goods",
          type: "sql",
          database: "stock",
          query: "SELECT quantity, price FROM goods WHERE warehouse = :warehouse",
          params: { warehouse: "${{ inputs.warehouse }}" },
        },
      ],
      output: {
        warehouse: "${{ inputs.warehouse }}",
        value: "${{ steps.goods.rows.map(g, g.quantity * g.price).sum() }}",
      },
    };
    return {
      request:
        'This morning our workflow "Stock value" failed for warehouse B. Find out why and repair it, so that it does not happen ' +
        "again: goods whose price we don't know count as 0. When it is live, get the run that failed through as well: we still need " +
        "its result.",
      config: { databases: [{ name: "stock", type: "sqlite", dataset }] },
      async seed(judge) {
        const id = await judge.publish("Stock value", "The value of the goods in a warehouse.", definition);
        await judge.run(id, { warehouse: "A" });
        assert.equal((await judge.run(id, { warehouse: "B" })).status, "failed");
      },
      async check(judge) {
        const id = await judge.published("Stock value");
        const { items } = await judge.millrace.operate<{ items: Run[] }>("list_workflow_runs", {
          workflow_id: id,
        });
        const failed = items
          .filter(({ retry_of: of }) => of === undefined)
          .find(({ status }) => status === "failed");
        const retried = items.find(({ retry_of: of, status }) => of === failed?.id && status === "succeeded");
        assert.ok(retried, "The failed run was not retried with success.");
        const whole = await judge.millrace.operate<Run>("get_run", { run_id: retried.id });
        assertLike(whole.output, { warehouse: "B", value: 121 }, "the result of the failed run");
        assertLike(
          await judge.output(id, { warehouse: "A" }),
          { warehouse: "A", value: 25.5 },
          "warehouse A",
        );
        world.query(
          dataset,
          "insert into goods (warehouse, quantity, price) values ('C', 2, null), ('B', 1, 9)",
        );
        assertLike(await judge.output(id, { warehouse: "B" }), { value: 130 }, "warehouse B, later");
        assertLike(await judge.output(id, { warehouse: "C" }), { value: 0 }, "warehouse C");
        assertLike(await judge.output(id, { warehouse: "D" }), { value: 0 }, "an empty warehouse");
      },
    };
  },
};

const customers = (...rows: [string, number][]) => ({
  customers: rows.map(([customer, amount]) => ({ customer, amount })),
});

const topCustomers: Task = {
  id: "top-customers",
  subject: "Changes a published workflow",
  prepare(world) {
    const dataset = world.sqlite(
      "sales",
      `create table sales (customer text not null, region text not null, amount real not null);
       insert into sales values ('Ada', 'north', 50), ('Bob', 'south', 70), ('Cleo', 'north', 20), ('Dora', 'west', 60),
         ('Ada', 'north', 40), ('Emil', 'south', 10), ('Fay', 'north', 30)`,
    );
    const definition = {
      inputs: { type: "object", properties: { count: { type: "integer", minimum: 1, default: 3 } } },
      steps: [
        {
          id: "best",
          type: "sql",
          database: "sales",
          query:
            "SELECT customer, SUM(amount) AS amount FROM sales GROUP BY customer ORDER BY amount DESC LIMIT :count",
          params: { count: "${{ inputs.count }}" },
        },
      ],
      output: { customers: "${{ steps.best.rows }}" },
    };
    return {
      request:
        'Please extend our workflow "Top customers": sometimes I want to see one region only, so it should take a `region` if I ' +
        "give one. Without it everything has to stay as it is, because others use it too. Put it live.",
      config: { databases: [{ name: "sales", type: "sqlite", dataset }] },
      seed: async (judge) =>
        void (await judge.publish("Top customers", "The customers with the highest sales.", definition)),
      async check(judge) {
        const id = await judge.published("Top customers");
        assertLike(
          await judge.output(id),
          customers(["Ada", 90], ["Bob", 70], ["Dora", 60]),
          "without inputs",
        );
        assertLike(await judge.output(id, { count: 1 }), customers(["Ada", 90]), "with a count");
        assertLike(
          await judge.output(id, { region: "north" }),
          customers(["Ada", 90], ["Fay", 30], ["Cleo", 20]),
          "north",
        );
        assertLike(await judge.output(id, { region: "south", count: 1 }), customers(["Bob", 70]), "south");
        assertLike(await judge.output(id, { region: "moon" }), customers(), "a region without sales");
      },
    };
  },
};

const orderStatus: Task = {
  id: "order-status",
  subject: "Tries single steps, and makes a workflow of them",
  async prepare(world) {
    const service = await world.http(({ path }) => {
      const encoded = /^\/parcels\/([^/]+)$/.exec(path)?.[1];
      if (encoded === undefined) return { status: 404, body: { error: "not found" } };
      const number = decodeURIComponent(encoded);
      return {
        body: {
          number,
          status: number.endsWith("2") ? "delivered" : "in transit",
          depot: `D${number.length}`,
        },
      };
    });
    const dataset = world.sqlite(
      "shop",
      `create table orders (id integer primary key, customer text not null, parcel text not null);
       insert into orders values (1041, 'Ada', 'P/901'), (1042, 'Bob', 'P/7702'), (1043, 'Cleo', 'P/33')`,
    );
    return {
      request:
        'Where is order 1042? The database "shop" knows the number of its parcel, and ' +
        `${service.url}/parcels/<number> says where a parcel is (the slash in a number has to be encoded). Find out now, step ` +
        'by step. When you know it, make exactly what you did a workflow "Order status" for any order: it takes `order_id` and ' +
        "returns `customer`, `status` and `depot`; for an order that does not exist the run fails. Publish it.",
      config: {
        databases: [{ name: "shop", type: "sqlite", dataset }],
        http: { allowed_hosts: [service.host] },
      },
      async check(judge) {
        const id = await judge.published("Order status");
        const compare = async (order_id: number, expected: object): Promise<void> =>
          assertLike(await judge.output(id, { order_id }), expected, `order ${order_id}`);
        await compare(1042, { customer: "Bob", status: "delivered", depot: "D6" });
        await compare(1041, { customer: "Ada", status: "in transit", depot: "D5" });
        world.query(dataset, "insert into orders values (2000, 'Dora', 'P/12/2')");
        await compare(2000, { customer: "Dora", status: "delivered", depot: "D6" });
        assert.equal(
          (await judge.run(id, { order_id: 7 })).status,
          "failed",
          "An unknown order has to fail.",
        );
      },
    };
  },
};

export const lifeTasks: readonly Task[] = [newOrders, quoteBasket, stockValue, topCustomers, orderStatus];
