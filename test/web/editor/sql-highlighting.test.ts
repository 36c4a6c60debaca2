import { describe, expect, it } from "vitest";
import { yamlWithSql } from "../../../src/web/editor/sql-highlighting.ts";

const TEXT = `steps:
  - id: a
    type: sql
    database: shop
    query: |
      SELECT region
      FROM orders
  - id: b
    type: sql
    query: SELECT 1
  - id: c
    type: http
    query: SELECT 2
  - id: d
    type: set
    values: { query: SELECT 3 }
`;

/** The keywords of SQL that a parser finds in a text. */
function keywords(text: string): string[] {
  const found: string[] = [];
  const asked: (string | undefined)[] = [];
  const { language } = yamlWithSql((database) => {
    asked.push(database);
    return "sqlite";
  });
  language.parser.parse(text).iterate({
    enter: ({ name, from, to }) => void (name === "Keyword" && found.push(text.slice(from, to))),
  });
  expect(asked).toEqual(["shop", undefined]);
  return found;
}

describe("SQL in YAML", () => {
  it("is parsed in the queries of sql steps, in the dialect of their database, and nowhere else", () => {
    expect(keywords(TEXT)).toEqual(["SELECT", "FROM", "SELECT"]);
  });
});
