/** The speed of the disk, as SQLite needs it. */
import { join } from "node:path";
import Database from "better-sqlite3";

/** Measures how many transactions of one row SQLite makes durable on this disk per second. */
export function commitsPerSecond(directory: string): number {
  const db = new Database(join(directory, "commits.db"));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("create table if not exists t (id integer primary key, body text)");
  const insert = db.prepare("insert into t (body) values (?)");
  const body = "x".repeat(200);
  const start = performance.now();
  let count = 0;
  for (; performance.now() - start < 300; count += 1) insert.run(body);
  const seconds = (performance.now() - start) / 1000;
  db.close();
  return count / seconds;
}
