/** Runs of past days: copies of a run that has ended. */
import { DAY, iso, MINUTE } from "../../src/core/clock.ts";
import type { TestInstance } from "./instance.ts";

export interface RunsOfDay {
  /** The run to copy. */
  run: string;
  count: number;
  /** Number of days before today. */
  daysAgo: number;
}

/** Inserts copies around noon UTC of each day, a minute apart. Their ids are made of the id of the run. */
export async function insertRunsOfDays(
  { store }: Pick<TestInstance, "store">,
  days: readonly RunsOfDay[],
): Promise<void> {
  const noon = Math.floor(Date.now() / DAY) * DAY + DAY / 2;
  await store.transaction(async (trx) => {
    for (const { run, count, daysAgo } of days) {
      const { subject: _generated, ...row } = await trx
        .selectFrom("runs")
        .selectAll()
        .where("id", "=", run)
        .executeTakeFirstOrThrow();
      const duration = Date.parse(row.finished_at!) - Date.parse(row.started_at!);
      for (let index = 0; index < count; index += 1) {
        const at = noon - daysAgo * DAY + index * MINUTE;
        const id = `${run}-${daysAgo}-${index}`;
        const times = { created_at: iso(at), started_at: iso(at), finished_at: iso(at + duration) };
        await trx
          .insertInto("runs")
          .values({ ...row, ...times, id, first_run: id })
          .execute();
      }
    }
  });
}
