/** The sample database: a small shop with the same customers, products and orders every time. */
import Database from "better-sqlite3";

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.parse("2026-01-01");
/** Through Sunday, 2026-06-28. */
const DAYS = 179;
/** Some customers stop ordering on this day. */
const LOST_AFTER = Date.parse("2026-04-20");

const REGIONS = ["north", "south", "east", "west"] as const;
const PLACES = [
  "Harbour",
  "Market",
  "Station",
  "Garden",
  "Mill",
  "Bridge",
  "Castle",
  "River",
  "Hill",
  "Park",
];
const KINDS = ["Bakery", "Café", "Bookshop", "Hotel", "Canteen", "Gallery"];

/** Name, category, price. */
const PRODUCTS: readonly (readonly [string, string, number])[] = [
  ["House blend, 1 kg", "coffee", 18.5],
  ["Espresso, 1 kg", "coffee", 21],
  ["Decaf, 500 g", "coffee", 11.9],
  ["Single origin, 250 g", "coffee", 9.8],
  ["Green tea, 100 g", "tea", 7.4],
  ["Earl Grey, 100 g", "tea", 6.9],
  ["Peppermint, 100 g", "tea", 5.5],
  ["Hand grinder", "equipment", 64],
  ["French press", "equipment", 32.5],
  ["Paper filters, 100", "equipment", 4.2],
  ["Milk jug", "equipment", 15.75],
  ["Cups, set of six", "equipment", 39.9],
];

const SCHEMA = `
  create table customers (id integer primary key, name text not null, region text not null, joined_on text not null);
  create table products (id integer primary key, name text not null, category text not null, price real not null);
  create table orders (
    id integer primary key,
    customer_id integer not null references customers,
    ordered_on text not null,
    status text not null
  );
  create table order_items (
    order_id integer not null references orders,
    product_id integer not null references products,
    quantity integer not null,
    price real not null,
    primary key (order_id, product_id)
  );
  create index orders_by_day on orders (ordered_on);
  create index orders_by_customer on orders (customer_id, ordered_on);
`;

const ORDERS = 480;

/** Pseudo-random integers, the same every time. @see Numerical Recipes, "quick and dirty" generators */
function numbers(): (below: number) => number {
  let state = 20_260_101;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

/**
 * Creates the sample database: 60 customers, 12 products, 480 orders of the first half of 2026.
 * @param file a SQLite file that does not exist yet
 */
export function makeShop(file: string): void {
  const db = new Database(file);
  try {
    db.pragma("journal_mode = delete");
    db.transaction(() => fill(db))();
  } finally {
    db.close();
  }
}

function fill(db: Database.Database): void {
  const random = numbers();
  db.exec(SCHEMA);
  const customer = db.prepare("insert into customers values (?, ?, ?, ?)");
  const names = PLACES.flatMap((place) => KINDS.map((kind) => `${place} ${kind}`));
  for (const [index, name] of names.entries()) {
    const joined = day(FIRST_DAY - random(700) * DAY_MS);
    customer.run(index + 1, name, REGIONS[random(REGIONS.length)], joined);
  }
  const product = db.prepare("insert into products values (?, ?, ?, ?)");
  for (const [index, [name, category, price]] of PRODUCTS.entries())
    product.run(index + 1, name, category, price);

  const order = db.prepare("insert into orders values (?, ?, ?, ?)");
  const item = db.prepare("insert into order_items values (?, ?, ?, ?)");
  for (let id = 1; id <= ORDERS; id += 1) {
    const time = FIRST_DAY + Math.floor(((id - 1) * DAYS) / ORDERS) * DAY_MS;
    let buyer = 1 + random(names.length);
    // One customer in six has stopped ordering; another one orders instead.
    if (time > LOST_AFTER && buyer % 6 === 0) buyer -= 1;
    order.run(id, buyer, day(time), random(25) === 0 ? "cancelled" : "paid");
    const first = random(PRODUCTS.length);
    const count = 1 + random(3);
    for (let line = 0; line < count; line += 1) {
      const index = (first + line * 5) % PRODUCTS.length;
      item.run(id, index + 1, 1 + random(8), PRODUCTS[index]![2]);
    }
  }
}
