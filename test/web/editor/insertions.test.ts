import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { insertName, insertSqlStep } from "../../../src/web/editor/insertions.ts";
import { selectOf, sqlIdentifier, sqlName } from "../../../src/web/data/sql-names.ts";
import { filterTables } from "../../../src/web/data/filter-tables.ts";

/** The text after an insertion at |, with | at the cursor. */
function inserted(
  marked: string,
  item: { kind: "table" | "column"; name: string },
  format: "yaml" | "json" = "yaml",
) {
  const pos = marked.indexOf("|", marked.indexOf("query") + 9);
  const changed = insertName(marked.slice(0, pos) + marked.slice(pos + 1), pos, format, item);
  return changed && `${changed.text.slice(0, changed.cursor)}|${changed.text.slice(changed.cursor)}`;
}

const query = (sql: string): string => `steps:\n  - id: a\n    type: sql\n    query: |\n      ${sql}\n`;
const region = { kind: "column" as const, name: "region" };

const table = (name: string, column: string) => ({
  name,
  kind: "table",
  columns: [{ name: column, type: "TEXT", nullable: false }],
  row_count: null,
});

describe("inserting a name", () => {
  it("separates columns by commas, and words by spaces", () => {
    expect(inserted(query("SELECT |"), region)).toBe(query("SELECT region|"));
    expect(inserted(query("SELECT| FROM orders"), region)).toBe(query("SELECT region| FROM orders"));
    expect(inserted(query("SELECT id| FROM orders"), region)).toBe(query("SELECT id, region| FROM orders"));
    expect(inserted(query("SELECT o.|"), region)).toBe(query("SELECT o.region|"));
    expect(inserted(query("SELECT 1 FROM|"), { kind: "table", name: "orders" })).toBe(
      query("SELECT 1 FROM orders|"),
    );
  });

  it("escapes quotes in a quoted string", () => {
    const json = '{"steps": [{"type": "sql", "query": "SELECT |"}]}';
    expect(inserted(json, { kind: "column", name: '"order"' }, "json")).toBe(
      '{"steps": [{"type": "sql", "query": "SELECT \\"order\\"|"}]}',
    );
  });

  it("inserts nothing outside of a query", () => {
    expect(inserted("steps:\n  - id: query\n    type: |sql\n    query: SELECT 1\n", region)).toBeUndefined();
  });
});

describe("inserting a step", () => {
  const step = { table: "orders", database: "shop", query: "SELECT id\nFROM orders\nLIMIT 100\n" };
  const text =
    "# Orders\nsteps:\n  - id: first\n    type: set\n    values: {}\n  - id: orders\n    type: set\n    values: {}\n";

  const ids = (source: string, pos: number, format: "yaml" | "json" = "yaml") => {
    const changed = parse(insertSqlStep(source, pos, format, step).text) as { steps: { id: string }[] };
    return changed.steps.map(({ id }) => id);
  };

  it("adds it behind the step at the cursor, with a free id, and keeps the rest of the text", () => {
    const { text: changed, cursor } = insertSqlStep(text, text.indexOf("values"), "yaml", step);
    expect(changed).toBe(
      text.replace(
        "  - id: orders\n",
        "  - id: orders_2\n    type: sql\n    database: shop\n    query: |\n      SELECT id\n      FROM orders\n      LIMIT 100\n  - id: orders\n",
      ),
    );
    expect(changed.slice(0, cursor)).toMatch(/LIMIT 100$/);
  });

  it("adds the first step of an empty text, and the last one where the cursor is in no step", () => {
    expect(ids("", 0)).toEqual(["orders"]);
    expect(ids("", 0, "json")).toEqual(["orders"]);
    expect(ids("output: 1\n", 0)).toEqual(["orders"]);
    expect(ids(text, 0)).toEqual(["first", "orders", "orders_2"]);
    expect(ids('{"steps": [{"id": "a", "type": "set"}]}', 15, "json")).toEqual(["a", "orders"]);
  });

  it("leaves a text with syntax errors alone", () => {
    expect(() => insertSqlStep("steps: [", 0, "yaml", step)).toThrow("Fix the syntax errors first.");
  });
});

describe("names in SQL", () => {
  it("are quoted where they have to be", () => {
    expect(sqlName("sales.orders", "postgresql")).toBe("sales.orders");
    expect(sqlName("Sales.order", "postgresql")).toBe('"Sales"."order"');
    expect(sqlIdentifier("a.b", "mysql")).toBe("`a.b`");
    expect(sqlIdentifier('say "hi"', "sqlite")).toBe('"say ""hi"""');
  });

  it("are listed by a new query, unless there are many", () => {
    const columns = Array.from({ length: 13 }, (_, index) => ({ name: `c${index}` }));
    expect(selectOf({ name: "wide", columns }, "sqlite")).toBe("SELECT *\nFROM wide\nLIMIT 100\n");
    expect(selectOf({ name: "t", columns: columns.slice(0, 2) }, "sqlite")).toBe(
      "SELECT c0, c1\nFROM t\nLIMIT 100\n",
    );
  });

  it("are found by words, also those of columns", () => {
    const tables = [table("orders", "region"), table("customers", "city")];
    expect(filterTables(tables, "ord REG").map(({ name }) => name)).toEqual(["orders"]);
    expect(filterTables(tables, " ")).toHaveLength(2);
  });
});
