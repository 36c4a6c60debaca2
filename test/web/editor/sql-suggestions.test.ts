import { describe, expect, it } from "vitest";
import type { Table } from "../../../src/web/data/queries.ts";
import { scratchSchema } from "../../../src/web/editor/sql-completion.ts";
import { sqlContextAt } from "../../../src/web/editor/sql-context.ts";
import { suggestSql } from "../../../src/web/editor/sql-suggestions.ts";

const table = (name: string, ...columns: string[]): Table => ({
  name,
  kind: "table",
  columns: columns.map((column) => ({ name: column, type: "TEXT", nullable: false })),
  row_count: 3,
});
const tables = [
  table("orders", "id", "region", "order"),
  table("customers", "id", "city"),
  table("audit.events", "at", "actor"),
];

/** A definition whose step has a query, with | at the cursor. */
const block = (sql: string, rest = ""): string =>
  `steps:\n  - id: a\n    type: sql\n    query: |\n${sql.replaceAll(/^/gm, "      ")}\n${rest}  - id: b\n    type: set\n    values: {}\n`;

interface Options {
  format?: "yaml" | "json";
  type?: string;
  explicit?: boolean;
}

async function suggestions(
  marked: string,
  { format = "yaml", type = "sqlite", explicit = false }: Options = {},
) {
  const pos = marked.indexOf("|", marked.indexOf("query") + 9);
  const text = marked.slice(0, pos) + marked.slice(pos + 1);
  const context = sqlContextAt(text, pos, format);
  if (context === undefined) return undefined;
  return { text, context, found: await suggestSql(context, pos, { type, tables }, explicit) };
}

async function offered(...input: Parameters<typeof suggestions>): Promise<string[] | undefined> {
  const result = await suggestions(...input);
  return result?.found?.list.map(({ label }) => label);
}

describe("completion in the query of an sql step", () => {
  it("offers tables behind FROM and JOIN, with their columns as help", async () => {
    expect(await offered(block("SELECT id FROM |"))).toEqual(["orders", "customers", "audit.events"]);
    const result = await suggestions(block("SELECT o.id FROM orders o\nJOIN cu|"));
    const customers = result?.found?.list.find(({ label }) => label === "customers");
    expect(customers).toMatchObject({ detail: "table, 3 rows", info: "id, city" });
  });

  it("offers the columns of the tables that the statement names behind the cursor, before other tables", async () => {
    const labels = await offered(block("SELECT r| FROM orders"));
    expect(labels?.slice(0, 3)).toEqual(["id", "region", "order"]);
    expect(labels).toContain("customers");
    expect(labels).not.toContain("city");
  });

  it("offers the columns of an alias, of a table and of a table in a schema, and the tables of a schema", async () => {
    const from = "FROM orders AS o, customers c";
    expect(await offered(block(`SELECT o.| ${from}`))).toEqual(["id", "region", "order"]);
    expect(await offered(block(`SELECT c.ci| ${from}`))).toEqual(["id", "city"]);
    expect(await offered(block("SELECT e.| FROM audit.events e"))).toEqual(["at", "actor"]);
    expect(await offered(block("SELECT 1 FROM audit.|"))).toEqual(["events"]);
  });

  it("quotes a column whose name is a keyword, as the database does", async () => {
    for (const [type, written] of [
      ["sqlite", '"order"'],
      ["mariadb", "`order`"],
    ] as const) {
      const result = await suggestions(block("SELECT o.| FROM orders o"), { type });
      expect(result?.found?.list.at(-1)?.apply).toBe(written);
    }
  });

  it("offers the parameters of the step behind a colon, and none behind a cast", async () => {
    const params = "    params:\n      since: 2026-01-01\n      region: north\n";
    expect(await offered(block("SELECT 1 FROM orders WHERE day > :|", params))).toEqual(["since", "region"]);
    expect(await offered(block("SELECT 1 WHERE day > :si|", params))).toEqual(["since", "region"]);
    expect(await offered(block("SELECT day::|", params), { type: "postgresql" })).toBeUndefined();
  });

  it("offers keywords in the case of the statement", async () => {
    expect(await offered(block("SELECT id FROM orders WH|"))).toContain("WHERE");
    expect(await offered(block("select id from orders wh|"))).toContain("where");
  });

  it("offers nothing in strings and comments, before a letter, and in other steps", async () => {
    expect(await offered(block("SELECT 'nor|' FROM orders"))).toBeUndefined();
    expect(await offered(block("SELECT id -- the i|"))).toBeUndefined();
    expect(await offered(block("SELECT | FROM orders"))).toBeUndefined();
    expect(await offered(block("SELECT | FROM orders"), { explicit: true })).toContain("region");
    expect(await offered(block("SELECT | FROM orders").replace("type: sql", "type: http"))).toBeUndefined();
  });

  it("knows the tables of scratch, with the columns of the rows that they are loaded from", () => {
    const steps = [{ id: "orders", output: "{rows: [{region: text, total: number or null}]}" }];
    const loaded = { totals: "${{ steps.orders.rows }}", other: "${{ inputs.list }}" };
    expect(scratchSchema(loaded, steps).tables).toEqual([
      {
        name: "totals",
        kind: "table",
        columns: [
          { name: "region", type: "text", nullable: false },
          { name: "total", type: "number", nullable: true },
        ],
        row_count: null,
      },
      { name: "other", kind: "table", columns: [], row_count: null },
    ]);
  });

  it("reads plain and quoted queries, of JSON too", async () => {
    const step = "steps:\n  - id: a\n    type: sql\n    database: shop\n";
    expect(await offered(`${step}    query: SELECT o.| FROM orders o\n`)).toEqual(["id", "region", "order"]);
    expect(await offered(`${step}    query: "SELECT o.| FROM orders o"\n`)).toEqual([
      "id",
      "region",
      "order",
    ]);
    const json = '{"steps": [{"type": "sql", "query": "SELECT o.|\\nFROM orders o"}]}';
    expect(await offered(json, { format: "json" })).toEqual(["id", "region", "order"]);
    const result = await suggestions(`${step}    query: SELECT o.re| FROM orders o\n`);
    expect(result?.context.database).toBe("shop");
    const { from, to } = result!.found!.replace;
    expect(result?.text.slice(from, to)).toBe("re");
  });
});
