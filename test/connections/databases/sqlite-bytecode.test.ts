/** Which statements compare a parameter of SQLite where a number and a text differ. */
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { mayCompareUntyped } from "../../../src/connections/databases/sqlite-bytecode.ts";
import { readProgram } from "../../../src/connections/databases/sqlite-program.ts";

const SCHEMA = `
  CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, x, s TEXT, num NUMERIC);
  CREATE INDEX t_x ON t (x); CREATE INDEX t_n ON t (n, s);
  CREATE TABLE u (a INTEGER, b TEXT, c UNIQUE, CHECK (a > 0));
  CREATE TABLE p (k INTEGER PRIMARY KEY);
  CREATE TABLE ch (k INTEGER REFERENCES p (k), v NUMERIC);
  CREATE TRIGGER after_ch AFTER INSERT ON ch BEGIN UPDATE t SET n = new.k WHERE x = new.v; END;
  CREATE VIEW vw AS SELECT id, n + 0 AS m FROM t;
  CREATE TABLE w (k INTEGER, v REAL, PRIMARY KEY (k)) WITHOUT ROWID;
  CREATE TABLE e (k TEXT PRIMARY KEY, v INTEGER);
  CREATE TABLE au (id INTEGER PRIMARY KEY AUTOINCREMENT, n INTEGER);
  CREATE VIRTUAL TABLE f USING fts5(b);`;

const TYPED = [
  "insert into u values(?1,hex(randomblob(8)),?1) returning *",
  "select ?1, random()",
  "select * from t where n=?1 and s=?2",
  "select * from t where id>?1",
  "select * from t where id=?1",
  "update t set n=?1 where n=?2",
  "select n, ?1 from t order by num",
  "select * from t where n in (?1,?2,3)",
  "select * from t where id in (?1,?2)",
  "insert into u values (?1,1,2),(?2,2,3)",
  "insert into u(a,b) values (?1,1) on conflict do nothing",
  "select * from t limit ?1",
  "insert into e values('a',?1) on conflict(k) do update set v=excluded.v",
  "insert into e values('a',?1) on conflict(k) do update set v=v+?1 where v < ?1",
  "delete from t where n < ?1",
  "insert into t(n,s) select ?1, b from u where a > ?1",
  "insert into ch values (?1,?2)",
  "update w set v=?1 where k=?2",
  "insert into w values(?1,?2)",
  "replace into e values (?1,?2)",
  "select count(*), sum(n) from t where n>?1 group by s having sum(id)>5",
  "select * from t where id+0 > cast(?1 as integer)",
  "select case when n > ?1 then 1 else 0 end from t",
  "select coalesce(n,?1) from t",
  "with q as materialized (select ?1 as x) select q.x, t.n from q, t",
  "with q as (select cast(?1 as integer) as x) select * from t,q where t.id+0 > q.x",
  "select ?1 where exists(select 1 from t where n between ?1 and ?2)",
  "insert into u(b) values (json_object('id', ?1))",
  "select json_object('id', ?1)",
  "select * from t where s like ?1",
  "select a.id from t a join t b on a.n=b.n and b.n > ?1",
  "select * from t where n=?1 or num=?1",
  "update t set x=?1",
  "select ?1 + n from t where n + ?1 > 5",
  "delete from ch where k=?1 returning *",
  "update t set n=?1 from u where u.a=t.n",
  "insert into t(x) values (?1)",
  "select * from t where n > ?1 order by s, n limit 5",
  "select distinct n from t where n < ?1",
  "select * from t left join u on u.a=t.n and u.a > ?1",
  "select ?1 as run, n, count(*) from t group by n",
  "insert into au(n) values(?1)",
  "insert into au(id, n) values(?1, ?2) on conflict(id) do update set n = excluded.n returning *",
  "with s(k) as (values (?1),(?2)) insert into au(n) select k from s",
  "update p set k=?1 where k=?2",
  "select p.k from p, json_each('[1,2]') j where p.k > ?1 and j.value=p.k",
  "select n, row_number() over (order by s) from t where n = ?1",
  "select sum(n) over (order by s rows 2 preceding), lag(n) over (order by s) from t where n > ?1",
  "insert into t(n) select rank() over (order by s) from u join t on n = ?1",
  "with recursive q(k) as (select id from t where n = ?1 union all select k + 1 from q where k < 5) select k from q",
  "with recursive q(k) as (select n from t where n = ?1 union all select k from q order by 1 limit 3) insert into u(a) select k from q",
  "select count(*) filter (where n = ?1) from t",
];

const UNTYPED = [
  "select * from vw where m > ?1",
  "select * from t where x > ?1",
  "select * from t where +x > ?1",
  "update t set n = (id+0 > ?1)",
  "select * from t where n+0 in (?1, 3,4)",
  "select max(n,?1) from t",
  "select nullif(?1,n+0) from t",
  "with q as materialized (select ?1 as x) select * from t,q where t.n+0 > q.x",
  "with q as materialized (select ?1 as x union all select 5) select * from t,q where t.n+0 = q.x",
  "with q as (select ?1 as x union select n from t) select * from q",
  "select n from t order by coalesce(x,?1)",
  "select case x when ?1 then 1 end from t",
  "delete from t where trim(s) = ?1",
  "select * from t where coalesce(n,?1) > x",
  "select * from t where ?1 < ?2",
  "select * from t where (n+0, s) > (?1,?2)",
  "select max(coalesce(x,?1)) from t",
  "select * from t where x is ?1",
  "select * from t where n+1 between ?1 and ?2",
  "select count(*) from t group by coalesce(n,?1)",
  "select * from t where cast(?1 as integer)=n and id+0=?1",
  "select * from (select id+0 as m from t limit 10) where m=?1",
  "select n, row_number() over (order by coalesce(x,?1)) from t",
  "insert into t(n) select 1 where (select max(id) from t) > ?1",
  "select distinct coalesce(x,?1) from t",
  "select abs(?1) > n+0 from t",
  "select * from t where exists (select 1 from u where u.c = ?1)",
  "select iif(n,?1,x) = s||'' from t",
  "select * from t where x in (select ?1)",
  "select * from (select x as y from t union all select ?1) where y > 5",
  "select ?1 in (select x from t)",
  "select * from t where x not in (?1,1,2,3)",
  "select distinct ?1, n from t",
  "select b from f where f match ?1",
  "with recursive q(k) as (select ?1 union all select k from q limit 3) select k from q where k > 5 + 0",
  "with recursive q(k) as (select ?1 union all select k from q order by 1 limit 3) select k from q",
  "select lag(?1) over (order by s) as p, n from t order by p",
  "select max(p) from (select first_value(?1) over (order by s) as p from t)",
];

describe("mayCompareUntyped", () => {
  const db = new DatabaseSync(":memory:");
  db.exec(SCHEMA);
  const check = (text: string): boolean => mayCompareUntyped(readProgram(db, text), new Set([1, 2]));

  it.each(TYPED)("says no for a parameter with the affinity of what it is compared with: %s", (text) => {
    expect(check(text)).toBe(false);
  });

  it.each(UNTYPED)(
    "says yes for a parameter that is compared with a value without an affinity: %s",
    (text) => {
      expect(check(text)).toBe(true);
    },
  );

  it("ignores the parameters that it is not asked about", () => {
    const program = readProgram(db, "SELECT * FROM t WHERE x = ?1 AND n = ?2");
    expect(mayCompareUntyped(program, new Set([2]))).toBe(false);
  });
});
