/** Tasks that are answered by one or more queries. */
import { join } from "node:path";
import { makeShop } from "../../../examples/shop.ts";
import { assertLike } from "../judge.ts";
import type { Task } from "../task.ts";

const round = (value: number, decimals = 2): number => Math.round(value * 10 ** decimals) / 10 ** decimals;

/** Numbers that look random and are the same every time, at least 0 and below 1. @see Numerical Recipes */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const revenueByRegion: Task = {
  id: "revenue-by-region",
  subject: "SQL on SQLite, with an input",
  prepare(world) {
    const dataset = join(world.directory, "shop.db");
    makeShop(dataset);
    return {
      request:
        'Our sales are in the database "shop". Set up a workflow called "Revenue by region": it takes a month such as 2026-03 ' +
        "(`month`), and returns `regions`, a list of `region` and `revenue` with the best region first. Cancelled orders do " +
        "not count. For a month without orders the list is empty. Publish it.",
      config: { databases: [{ name: "shop", type: "sqlite", dataset }] },
      async check(judge) {
        const id = await judge.published("Revenue by region");
        for (const month of ["2026-02", "2026-05", "2027-01"]) {
          const regions = world.query(
            dataset,
            `select c.region, sum(i.quantity * i.price) as revenue from orders o join customers c on c.id = o.customer_id
               join order_items i on i.order_id = o.id where o.status = 'paid' and o.ordered_on like ? || '-%'
               group by c.region order by revenue desc`,
            month,
          );
          assertLike(await judge.output(id, { month }), { regions }, month);
        }
      },
    };
  },
};

const CARRIERS = ["Hare", "Tortoise", "Snail"] as const;

const time = (at: number): string => `'${new Date(at).toISOString().slice(0, 19).replace("T", " ")}'`;

const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

const deliveryTimes: Task = {
  id: "delivery-times",
  subject: "SQL on DuckDB: medians and quarters",
  async prepare(world) {
    const random = numbers(7);
    const start = Date.parse("2026-01-02T08:00:00Z");
    const shipments = Array.from({ length: 240 }, (_, index) => {
      const carrier = Math.floor(random() * CARRIERS.length);
      const shipped = start + index * 26 * 3_600_000;
      // Hours, so that medians have a fraction of a day.
      const hours = 12 + Math.floor(random() * 48) * (carrier + 1);
      return { carrier: CARRIERS[carrier]!, shipped, hours: random() < 0.1 ? null : hours };
    });
    const rows = shipments.map(
      ({ carrier, shipped, hours }, index) =>
        `(${index + 1}, '${carrier}', ${time(shipped)}, ${hours === null ? "null" : time(shipped + hours * 3_600_000)})`,
    );
    const dataset = await world.duckdb(
      "logistics",
      `create table shipments (id integer, carrier varchar, shipped_at timestamp, delivered_at timestamp);
       insert into shipments values ${rows.join(", ")}`,
    );
    return {
      request:
        'How fast are our carriers? The database "logistics" has all shipments. Build a workflow "Delivery times" that takes a ' +
        "`year` and a `quarter` (both numbers) and returns `carriers`: for each carrier its name (`carrier`), the number of " +
        "`shipments` and the median time from shipping to delivery in days (`median_days`, rounded to one decimal), the " +
        "fastest carrier first. Take what was shipped in that quarter and has been delivered. Publish it.",
      config: { databases: [{ name: "logistics", type: "duckdb", dataset }] },
      async check(judge) {
        const id = await judge.published("Delivery times");
        for (const quarter of [1, 2, 3]) {
          const inQuarter = shipments.filter(
            ({ shipped, hours }) =>
              hours !== null && Math.floor(new Date(shipped).getUTCMonth() / 3) + 1 === quarter,
          );
          const carriers = CARRIERS.map((carrier) => {
            const days = inQuarter.filter((it) => it.carrier === carrier).map(({ hours }) => hours! / 24);
            return { carrier, shipments: days.length, days: median(days) };
          })
            .toSorted((a, b) => a.days - b.days)
            .map(({ carrier, shipments: count, days }) => ({
              carrier,
              shipments: count,
              median_days: round(days, 1),
            }));
          assertLike(await judge.output(id, { year: 2026, quarter }), { carriers }, `quarter ${quarter}`);
        }
      },
    };
  },
};

const profitByProduct: Task = {
  id: "profit-by-product",
  subject: "A join of tables in two databases",
  async prepare(world) {
    const random = numbers(3);
    const skus = Array.from({ length: 12 }, (_, index) => `SKU-${100 + index}`);
    const sales = Array.from({ length: 150 }, () => ({
      sku: skus[Math.floor(random() * skus.length)]!,
      quantity: 1 + Math.floor(random() * 5),
      price: 10 + Math.floor(random() * 4000) / 100,
    }));
    // Two products have no known cost.
    const costs = new Map(skus.slice(0, 10).map((sku) => [sku, 2 + Math.floor(random() * 2000) / 100]));
    const shop = world.sqlite(
      "shop",
      `create table sales (id integer primary key, sku text not null, quantity integer not null, price real not null);
       insert into sales (sku, quantity, price) values ${sales.map((it) => `('${it.sku}', ${it.quantity}, ${it.price})`).join(", ")}`,
    );
    const purchasing = await world.duckdb(
      "purchasing",
      `create table unit_costs (sku varchar, cost double);
       insert into unit_costs values ${[...costs].map(([sku, cost]) => `('${sku}', ${cost})`).join(", ")}`,
    );
    return {
      request:
        'Which products earn us most? What we sold is in the database "shop", what the products cost us is in "purchasing". ' +
        'Make a workflow "Profit by product" that takes how many products I want (`top`, 5 if I don\'t say) and returns ' +
        "`products`, a list of `sku` and `profit` (what we took minus what the sold pieces cost us), the highest profit first. " +
        "Leave out products whose cost is not known. Publish it.",
      config: {
        databases: [
          { name: "shop", type: "sqlite", dataset: shop },
          { name: "purchasing", type: "duckdb", dataset: purchasing },
        ],
      },
      async check(judge) {
        const products = [...costs]
          .map(([sku, cost]) => ({
            sku,
            profit: sales
              .filter((sale) => sale.sku === sku)
              .reduce((sum, { quantity, price }) => sum + quantity * (price - cost), 0),
          }))
          .toSorted((a, b) => b.profit - a.profit);
        const id = await judge.published("Profit by product");
        const compare = async (inputs: object, count: number): Promise<void> => {
          const output = (await judge.output(id, inputs)) as { products: { sku: string; profit: number }[] };
          // Exact or rounded to cents, both are right.
          const expected = products.slice(0, count).map(({ sku, profit }, index) => {
            const got = output.products[index]?.profit ?? 0;
            return { sku, profit: Math.abs(got - profit) < 0.011 ? got : profit };
          });
          assertLike(output.products, expected, `products of ${JSON.stringify(inputs)}`);
        };
        await compare({ top: 3 }, 3);
        await compare({}, 5);
        await compare({ top: 100 }, 10);
      },
    };
  },
};

const bankStatement: Task = {
  id: "bank-statement",
  subject: "CSV as an input, added up",
  prepare: () => ({
    request:
      'I paste the CSV export of our bank into a workflow "Bank statement" (`csv`). It has a header and the columns date, ' +
      "description, category and amount, separated by commas; a description with a comma is quoted; expenses are negative. " +
      "The workflow returns `totals`, a list of `category` and `total` (rounded to cents) in alphabetical order, and " +
      "`largest_expense`, the description of the largest single expense. An example:\n\n" +
      'date,description,category,amount\n2026-10-01,"Rent, office",rent,-1200.00\n2026-10-02,Invoice 17,sales,900.50\n' +
      "2026-10-03,Coffee,kitchen,-18.20\n2026-10-05,Invoice 18,sales,100.25\n\nPublish it.",
    config: {},
    async check(judge) {
      const id = await judge.published("Bank statement");
      assertLike(
        await judge.output(id, {
          csv:
            "date,description,category,amount\n2026-11-01,Water,utilities,-30.10\n" +
            '2026-11-01,"Laptop, used",hardware,-740.00\n2026-11-02,"A ""big"" order, at last",sales,2000.00\n' +
            "2026-11-03,Power,utilities,-70.20\n2026-11-04,Refund,sales,-0.30\n",
        }),
        {
          totals: [
            { category: "hardware", total: -740 },
            { category: "sales", total: 1999.7 },
            { category: "utilities", total: -100.3 },
          ],
          largest_expense: "Laptop, used",
        },
        "another statement",
      );
    },
  }),
};

const COUNTRIES: readonly (readonly [name: string, country: string])[] = [
  ...["DE", "Germany", "Deutschland", "de", " Germany "].map((name) => [name, "DE"] as const),
  ...["FR", "France", "fr", "FRANCE"].map((name) => [name, "FR"] as const),
  ...["AT", "Österreich", "Austria"].map((name) => [name, "AT"] as const),
];

const customersPerCountry: Task = {
  id: "customers-per-country",
  subject: "A question that only the data answers",
  prepare(world) {
    const random = numbers(11);
    const insert = (count: number): string => {
      const rows = Array.from({ length: count }, (_, index) => {
        const [name] = COUNTRIES[index < COUNTRIES.length ? index : Math.floor(random() * COUNTRIES.length)]!;
        return `('Customer ${index}', '${name}')`;
      });
      return `insert into customers (name, country) values ${rows.join(", ")}`;
    };
    const dataset = world.sqlite(
      "crm",
      `create table customers (id integer primary key, name text not null, country text not null); ${insert(90)}`,
    );
    return {
      request:
        'The countries of our customers (database "crm") were typed by hand, so the same country is written in several ways. I ' +
        'need a workflow "Customers per country" that counts properly: `countries` is a list of `country` (the two-letter ' +
        "code in capitals) and `customers` (how many), the most customers first. Publish it.",
      config: { databases: [{ name: "crm", type: "sqlite", dataset }] },
      async check(judge) {
        const id = await judge.published("Customers per country");
        const codes = new Map(COUNTRIES);
        const compare = async (): Promise<void> => {
          const counts = new Map<string, number>();
          for (const { country } of world.query(dataset, "select country from customers")) {
            const code = codes.get(country as string)!;
            counts.set(code, (counts.get(code) ?? 0) + 1);
          }
          const countries = [...counts]
            .map(([country, customers]) => ({ country, customers }))
            .toSorted((a, b) => b.customers - a.customers);
          assertLike(await judge.output(id), { countries }, "countries");
        };
        await compare();
        world.query(
          dataset,
          "insert into customers (name, country) select name, 'Austria' from customers union all select name, 'fr' from customers limit 130",
        );
        await compare();
      },
    };
  },
};

const expected = (...percents: number[]) =>
  percents.map((percent, index) => ({ option: "ABCD"[index], percent }));

const shares: Task = {
  id: "vote-shares",
  subject: "Percentages and rounding",
  prepare: () => ({
    request:
      'We vote a lot. Make a workflow "Vote shares": it takes `votes`, a list of `option` and `count`, and returns `shares`, a ' +
      "list of `option` and `percent` in the same order, each percentage of all votes rounded to one decimal, and `winner`, " +
      "the option with the most votes. When nobody has voted, every percentage is 0 and there is no winner (null). Publish it.",
    config: {},
    async check(judge) {
      const id = await judge.published("Vote shares");
      const run = (...counts: number[]): Promise<unknown> =>
        judge.output(id, { votes: counts.map((count, index) => ({ option: "ABCD"[index], count })) });
      assertLike(await run(1, 1, 1), { shares: expected(33.3, 33.3, 33.3) }, "a draw");
      assertLike(await run(3, 12, 1), { shares: expected(18.8, 75, 6.3), winner: "B" }, "three options");
      assertLike(await run(0, 0), { shares: expected(0, 0), winner: null }, "no votes");
      assertLike(await run(), { shares: [], winner: null }, "no options");
    },
  }),
};

export const queryTasks: readonly Task[] = [
  revenueByRegion,
  deliveryTimes,
  profitByProduct,
  bankStatement,
  customersPerCountry,
  shares,
];
