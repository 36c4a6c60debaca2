/** Which statements make a double of a parameter of SQLite, and what a step says then. */
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { mayCompareUntyped } from "../../../src/connections/databases/sqlite-bytecode.ts";
import {
  type InexactKind,
  mayRoundParameters,
} from "../../../src/connections/databases/sqlite-conversions.ts";
import {
  bindStatement,
  roundedPositions,
  unclearPositions,
} from "../../../src/connections/databases/sqlite-long-numbers.ts";
import { inexactKind } from "../../../src/connections/databases/sqlite-parameters.ts";
import { isKnownProgram } from "../../../src/connections/databases/sqlite-opcodes.ts";
import { type Instruction, readProgram } from "../../../src/connections/databases/sqlite-program.ts";
import { createSqliteFile, openDatabases } from "../../support/databases.ts";
import { expectCost } from "../../support/expect-cost.ts";
import { temporaryDirectory } from "../../support/instance.ts";

const SCHEMA = `
  CREATE TABLE t (id INTEGER PRIMARY KEY, price DECIMAL(20,2), r REAL, s TEXT, b BLOB, x);
  CREATE INDEX t_price ON t (price); CREATE INDEX t_r ON t (r);
  CREATE TABLE st (i INT, r REAL, a ANY, s TEXT, v INT AS (i) VIRTUAL, g INT AS (i + 1) STORED, z REAL) STRICT;
  CREATE TABLE e (k TEXT PRIMARY KEY, price NUMERIC, s TEXT);
  CREATE VIEW v AS SELECT id, price FROM t;
  CREATE TABLE w (k TEXT PRIMARY KEY, price NUMERIC) WITHOUT ROWID;
  CREATE TABLE au (id INTEGER PRIMARY KEY AUTOINCREMENT, s TEXT UNIQUE);
  CREATE TABLE tr (s TEXT);
  CREATE TRIGGER after_tr AFTER INSERT ON tr BEGIN INSERT INTO t(s, price) VALUES (new.s, 1); END;
  CREATE VIRTUAL TABLE f USING fts5(b);`;

/** Statements that round the decimal ?1. */
const ROUND = [
  "insert into t(price) values (?1)",
  "insert into t(price, s) values (?2, ?2), (?1, ?2)",
  "insert into t(id) values (?1)",
  "insert into t(r) select ?1 from e",
  "insert into t(price) select ?1 union all select ?2",
  "insert into t(s, price) values (?1, coalesce(?1, 0))",
  "insert into t(price) values (cast(?1 as text))",
  "insert into t(price) values (trim(?1))",
  "insert into t(price) values (?1 || '0')",
  "insert into t(price) select max(?1) from e",
  "insert into t(price) values (?1) returning price",
  "insert or replace into e values ('a', ?1, 'b')",
  "replace into e(k, price) values ('a', ?1)",
  "insert into e values (?2, ?2, 'b') on conflict(k) do update set price = ?1",
  "insert into e values ('a', ?1, ?1) on conflict(k) do update set s = excluded.s",
  "with q as materialized (select ?1 as n) insert into t(price) select n from q",
  "with recursive q(n) as (select ?1 union all select n from q limit 2) insert into t(price) select n from q",
  "update t set price = ?1",
  "update t set s = ?1, r = iif(id > 1, ?1, r)",
  "update t set price = q.n from (select ?1 as n) q",
  "insert into st(i) values (?1)",
  "insert into st(z) values (?1)",
  "update st set r = ?1",
  "select * from t where price = ?1",
  "select * from t where r > ?1",
  "select * from t where id > ?1",
  "select * from t where id = ?1",
  "select * from t where price in (?1, 2)",
  "select * from t where price in (?1, ?2, 3, 4, 5, 6)",
  "select * from t where price between ?1 and ?2",
  "select * from v where price <> ?1",
  "select case when price > ?1 then 1 end from t",
  "select case price when ?1 then 1 end from t",
  "delete from t where price < ?1",
  "select price * ?1 from t",
  "select ?1 + 0",
  "select -?1",
  "select sum(?1) from t",
  "select round(?1, 2)",
  "select abs(coalesce(x, ?1)) from t",
  "select s from t where s = cast(?1 as text) and price < ?1",
  "select * from t join e on e.price = ?1",
  "select count(*) from t group by s having sum(price) > ?1 + 1",
  "select row_number() over (order by s) from t where price = ?1",
  "select sum(?1) over (order by s) from t",
  "insert into t(price) select lag(?1) over (order by s) from e",
  "insert into t(price) select max(?1) over (order by s rows 2 preceding) from e",
  "with recursive q(n) as (select ?1 union all select n from q order by 1 limit 2) insert into t(price) select n from q",
  "with recursive q(n) as (select id from t where price = ?1 union all select n from q limit 2) select n from q",
  "select count(*) filter (where price = ?1) from t",
  "insert into w values ('a', ?1) on conflict do nothing",
  "select * from t where price in (select ?1 union select 2)",
];

/** Statements that keep all digits of the decimal ?1, or say that a double will do. */
const KEEP = [
  "insert into t(s) values (?1)",
  "insert into t(b) values (?1)",
  "insert into t(x) values (?1)",
  "insert into t(price, s) values (?2, ?1)",
  "insert into t(s, price) values (?1, ?2), (?2, 1)",
  "insert into t(price) values (cast(?1 as real))",
  "insert into t(price, s) values (cast(?1 as real), ?1)",
  "insert into t(price) values (round(cast(?1 as real), 2))",
  "insert into t(price) values (length(?1))",
  "insert into t(price) select count(?1) from e",
  "insert into t(price) select price from e where s = ?1",
  "insert into t(s) select ?1 from e where price > ?2",
  "insert into e values ('a', 1, ?1) on conflict(k) do update set s = excluded.s",
  "insert into e values (?1, 1, 'b') on conflict(k) do update set price = price + 1",
  "with q(n, m) as (values (?1, 1), ('x', 2)) insert into t(s, price) select n, m from q",
  "update t set s = ?1",
  "update t set s = ?1 where price > ?2",
  "update t set price = price + 1 where s = ?1",
  "insert into st(s, a, i) values (?1, ?1, ?2)",
  "update st set s = ?1, r = ?2",
  "select * from t where s = ?1",
  "select * from t where s > ?1 and price > ?2 order by price",
  "select * from t where price > cast(?1 as real)",
  "select * from t where price in (cast(?1 as numeric), 2)",
  "select ?1, ?1 || '', price from t",
  "select json_object('id', ?1)",
  "select * from t where s in (?1, ?2)",
  "select * from t where s like ?1",
  "select s, ?1, sum(price) from t group by s order by 3",
  "select price + 1 from t where s = ?1",
  "delete from t where s = ?1 returning price",
  "select coalesce(s, ?1) from t",
  "select s, row_number() over (order by s) from t where s = ?1",
  "select sum(price) over (order by s rows 2 preceding), avg(r) over (partition by x) from t where s = ?1",
  "select lag(?1) over (order by price), price, ntile(2) over (order by r) from t",
  "select row_number() over (order by s) from t where s = cast(?1 as text)",
  "select row_number() over (order by s) from t where price = cast(?1 as real)",
  "select row_number() over (order by s) from t where price = cast(?1 as integer)",
  "select row_number() over (order by s) from t where price = cast(?1 as numeric)",
  "with recursive q(n) as (select 1 union all select n + 1 from q where n < 3) select n, ?1 from q",
  "with recursive q(n) as (select 1 union all select n + 1 from q where n < 3) select n, cast(?1 as text) from q",
  "with recursive q(n, m) as (select 1, ?1 union all select n + 1, m from q order by 1 limit 3) insert into t(price, s) select n, m from q",
  "select count(*) filter (where s = ?1), sum(price) filter (where s = ?1) from t",
  "select * from t where s in (select s from e where k = ?1 and price > 1)",
  "select exists (select 1 from t where s = ?1), (select price from t where s = ?1)",
  "select s from t where s = ?1 union select k from e except select price from t",
  "select value from json_each('[1]') where value = ?1",
  "select f.b from f where f match ?1",
  "insert into f values (?1)",
  "insert into au(s) values (?1) on conflict(s) do update set s = excluded.s returning id, s",
  "insert into w values (?1, 1) on conflict(k) do update set price = price + 1",
  "insert into tr values (?1)",
  "select price from t order by ?1, price limit 2",
  "select group_concat(s, ?1), count(distinct price) from t group by x",
  "select a.s from t a full join t b on a.s = b.s where a.s = ?1",
  "create table copy as select s, price from t where s = ?1",
  "insert into t(price) values (substr(?1, 1, 4))",
  "select * from t where price = replace(?1, '0', '')",
  "select * from t where price > unixepoch(?1)",
];

describe("mayRoundParameters", () => {
  const db = new DatabaseSync(":memory:");
  db.exec(SCHEMA);
  const check = (text: string, kind: InexactKind): boolean =>
    mayRoundParameters(db, readProgram(db, text), new Set([1]), kind);

  it.each(ROUND)("says yes for a decimal that SQLite makes a double of: %s", (text) => {
    expect(check(text, "text")).toBe(true);
  });

  it.each(KEEP)(
    "says no for a decimal that stays a text, or whose rounding the query asks for: %s",
    (text) => {
      expect(check(text, "text")).toBe(false);
    },
  );

  it.each([...ROUND, ...KEEP])("knows each instruction of %s", (text) => {
    expect(isKnownProgram(readProgram(db, text))).toBe(true);
  });

  it.each([
    ["insert into t(r) values (?1)", true],
    ["update t set r = ?1", true],
    ["select * from t where r > ?1", false],
    ["insert into st(r) values (?1)", true],
    ["insert into t(price) values (?1)", false],
    ["insert into st(i, s) values (?1, ?1)", false],
    ["select * from t where id = ?1 and price < ?1", false],
    ["select id + ?1 from t", false],
    ["insert into t(r) values (cast(?1 as real))", false],
    ["select id, row_number() over (order by id) from t where id = ?1", false],
    [
      "with recursive q(n) as (select id from t where id = ?1 union all select n from q) select n from q",
      false,
    ],
    ["select lag(id) over (order by r) from t where price = cast(?1 as integer)", false],
    ["insert into t(r) select lag(?1) over (order by s) from e", true],
  ])("says whether a statement makes a double of an integer of 64 bits: %s", (text, isRounded) => {
    expect(check(text, "integer")).toBe(isRounded);
  });
});

describe("an instruction that the list lacks", () => {
  const db = new DatabaseSync(":memory:");
  db.exec(SCHEMA);
  const withUnknown = (text: string): Instruction[] => [
    ...readProgram(db, text),
    { opcode: "FromLaterVersions", p1: 1, p2: 1, p3: 1, p4: null, p5: 0 },
  ];

  it.each([
    ["insert into t(s) values (?1)", false],
    ["insert into t(price) values (?1)", true],
  ])("does not make mayRoundParameters say yes: %s", (text, isRounded) => {
    expect(mayRoundParameters(db, withUnknown(text), new Set([1]), "text")).toBe(isRounded);
  });

  it("makes mayCompareUntyped say yes, which asks for both readings", () => {
    expect(mayCompareUntyped(withUnknown("select * from t where s = ?1"), new Set([1]))).toBe(true);
  });
});

describe("roundedPositions", () => {
  const db = new DatabaseSync(":memory:");
  db.exec(SCHEMA);
  const ROWS = 500;
  const text = `INSERT INTO t(s, price) VALUES ${Array.from({ length: ROWS }, (_, row) => `(?${2 * row + 1}, ?${2 * row + 2})`).join()}`;
  const values = (price: string): string[] =>
    Array.from({ length: 2 * ROWS }, (_, position) => (position % 2 === 0 ? "0.1234567890123456789" : price));

  it("reads the program once, and follows all numbers of a kind together", () => {
    const prepare = vi.spyOn(db, "prepare");
    onTestFinished(() => prepare.mockRestore());
    const statement = bindStatement(db, text, values("175928847299117063"));
    expect(roundedPositions(db, statement)).toEqual([]);
    expect(unclearPositions(statement)).toEqual([]);
    expect(prepare.mock.calls).toEqual([[`EXPLAIN ${text}`]]);
  });

  it("names the positions, and no more of them than the limit", () => {
    const rounded = values("1.5");
    for (const position of [7, 401, 999]) rounded[position] = "12345678901234567.89";
    expect(roundedPositions(db, bindStatement(db, text, rounded))).toEqual([7, 401, 999]);
    expect(roundedPositions(db, bindStatement(db, text, rounded), 2)).toEqual([7, 401]);
  });

  it("takes a time that grows with the number of rows only", async () => {
    await expectCost(500, () => {
      expect(roundedPositions(db, bindStatement(db, text, values("2.5")))).toEqual([]);
    });
  });
});

describe("inexactKind", () => {
  it.each([
    ["12345678901234567.89", "text"],
    [" +12345678901234567.89 ", "text"],
    ["18446744073709551615", "text"],
    ["1e400", "text"],
    ["9007199254740993", "integer"],
    ["+9007199254740993", "integer"],
    ["-00000000000000000009007199254740993", "integer"],
    ["9".repeat(2_000), "text"],
    ["9007199254740992", undefined],
    ["1.50", undefined],
    ["007", undefined],
    ["12345678901234567.89 EUR", undefined],
    [0.1, undefined],
    [null, undefined],
  ] as const)("says what SQLite holds of a number that is no double: %j", (value, kind) => {
    expect(inexactKind(value)).toBe(kind);
  });
});

describe("a decimal that SQLite would round", () => {
  it("is refused before anything is written, and kept where the column is TEXT or the query rounds it", async () => {
    const dataset = createSqliteFile(
      temporaryDirectory(),
      "CREATE TABLE t (price DECIMAL(20,2), s TEXT, r REAL)",
    );
    const entry = { name: "shop", type: "sqlite", dataset, access: "read-write" };
    const { runQuery, queryError } = openDatabases([entry]);
    const params = { x: "12345678901234567.89" };
    const write = { write: true };
    expect(await queryError("shop", "INSERT INTO t (price) VALUES (:x)", params, write)).toMatchObject({
      code: "input_invalid",
      message:
        "SQLite would take the parameter 12345678901234567.89 as a number, which it rounds to 12345678901234568.",
      options: { fix: expect.stringContaining("CAST(:x AS REAL)") as string },
    });
    const long = { x: "9007199254740993" };
    expect((await queryError("shop", "INSERT INTO t (r) VALUES (:x)", long, write)).code).toBe(
      "input_invalid",
    );
    expect((await queryError("shop", "SELECT s FROM t WHERE price = :x", params)).code).toBe("input_invalid");
    await runQuery("shop", "INSERT INTO t (price, s) VALUES (CAST(:x AS REAL), :x)", params, write);
    expect((await runQuery("shop", "SELECT price, s FROM t")).rows).toEqual([
      { price: "12345678901234568", s: params.x },
    ]);
  });
});
