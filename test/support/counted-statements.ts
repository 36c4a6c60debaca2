/** Counts what SQLite is asked: figures that do not depend on the machine. */
import Database from "better-sqlite3";

type Statement = Database.Statement & { source: string };

/**
 * Runs `work`, and notes the statements that databases run meanwhile, also those of transactions. The question whether the database has
 * changed (`pragma data_version`), which a timer asks too, is left out.
 */
export async function countStatements<T>(
  work: () => Promise<T>,
): Promise<{ answer: T; statements: string[]; commits: number }> {
  const statements: string[] = [];
  const sample = new Database(":memory:");
  const prototype = Object.getPrototypeOf(sample.prepare("select 1")) as Statement;
  const { all, run } = prototype;
  sample.close();
  const noted = <F extends (...args: never[]) => unknown>(method: F): F =>
    function (this: Statement, ...args: never[]) {
      if (!this.source.includes("data_version")) statements.push(this.source);
      return method.apply(this, args);
    } as F;
  Object.assign(prototype, { all: noted(all), run: noted(run) });
  try {
    const answer = await work();
    return { answer, statements, commits: statements.filter((sql) => sql === "commit").length };
  } finally {
    Object.assign(prototype, { all, run });
  }
}
