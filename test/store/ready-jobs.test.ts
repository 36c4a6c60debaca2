import { array, assert, asyncProperty, constantFrom, record } from "fast-check";
import { expect, it } from "vitest";
import { inDatabase, inMemory, readyJobs, type ReadyJobs } from "../../src/store/ready-jobs.ts";
import { testStore } from "../support/store.ts";

const NOW = Date.parse("2026-11-21T08:00:00Z");
const RATE_MS = 3_600_000;

const owners = ["ann@x", "bob@x", "cid@x"];
const workflows = ["daily", "hourly", "weekly"];
const resources = [null, "database:a", 'model:["b","c"]'];
const rates = [null, "step:free", "step:taken"];

const jobs = array(
  record({
    subject: constantFrom(...owners),
    workflow_id: constantFrom(...workflows),
    resource: constantFrom(...resources),
    rate_key: constantFrom(...rates),
    priority: constantFrom(-1, 0, 7),
    suspect: constantFrom(0, 0, 0, 1),
    state: constantFrom("ready" as const, "ready" as const, "claimed" as const),
  }),
  { maxLength: 30 },
);

/** The answers to all questions that a claim may ask. */
async function answersOf(ready: ReadyJobs): Promise<unknown[]> {
  const answers: unknown[] = [ready.priorities];
  for (const priority of [7, 0, -1]) {
    for (const full of [[], ["database:a"], resources.filter((resource) => resource !== null)]) {
      for (const after of ["", ...owners]) answers.push(await ready.nextOwner({ priority, full, after }));
      for (const owner of owners)
        for (const after of ["", ...workflows])
          answers.push((await ready.nextJob({ priority, full, owner, after }))?.id);
    }
  }
  return answers;
}

it("gives the same answers from memory as from the database", async () => {
  const { store } = await testStore();
  await store.transaction(async (trx) => {
    await trx
      .insertInto("rate_slots")
      .values({ key: "step:taken", next_at: NOW + RATE_MS, interval_ms: RATE_MS })
      .execute();
    await assert(
      asyncProperty(jobs, async (rows) => {
        await trx.deleteFrom("jobs").execute();
        const fields = {
          kind: "step" as const,
          run_id: "run_1",
          step_id: "a",
          item: -1,
          rate_ms: RATE_MS,
          attempt: 1,
          tries: 1,
          fence: 0,
          kills: 0,
          alone: 0,
        };
        if (rows.length > 0)
          await trx
            .insertInto("jobs")
            .values(rows.map((row) => ({ ...fields, ...row })))
            .execute();
        const ready = await trx
          .selectFrom("jobs")
          .selectAll()
          .select((eb) => eb("rate_key", "=", "step:taken").as("waits"))
          .where("state", "=", "ready")
          .where("suspect", "=", 0)
          .execute();
        expect(await answersOf(await inDatabase(trx, NOW))).toEqual(await answersOf(inMemory(ready)));
      }),
    );
  });
});

it("reads at most 64 jobs at once, however many are ready", async () => {
  const { store } = await testStore();
  await store.transaction(async (trx) => {
    for (let index = 0; index < 65; index += 1)
      await trx
        .insertInto("jobs")
        .values({
          kind: "step",
          state: "ready",
          priority: 0,
          run_id: "run_1",
          subject: "?",
          workflow_id: "?",
          step_id: "a",
          item: index,
          attempt: 1,
          tries: 1,
          fence: 0,
          suspect: 0,
          kills: 0,
          alone: 0,
        })
        .execute();
    const many = await readyJobs(trx, NOW);
    const job = (await many.nextJob({ priority: 0, full: [], owner: "?", after: "" }))!;
    // A large queue is in the database, where the claim changes it.
    many.remove(job, []);
    expect(await many.nextJob({ priority: 0, full: [], owner: "?", after: "" })).toEqual(job);
    await trx.deleteFrom("jobs").where("item", "=", 64).execute();
    const few = await readyJobs(trx, NOW);
    few.remove(job, []);
    expect(await few.nextJob({ priority: 0, full: [], owner: "?", after: "" })).toMatchObject({ item: 1 });
  });
});
