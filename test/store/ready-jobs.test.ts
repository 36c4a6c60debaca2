import { type Arbitrary, array, assert, asyncProperty, boolean, constantFrom, record } from "fast-check";
import type { Transaction } from "kysely";
import { expect, it, vi } from "vitest";
import type { Schema } from "../../src/store/schema.ts";
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
    priority: constantFrom<number>(-1, 0, 7),
    suspect: constantFrom<number>(0, 0, 0, 1),
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

type Rows = typeof jobs extends Arbitrary<infer T> ? T : never;

/** Replaces the queue by these jobs. @returns those that are ready */
async function replaceJobs(trx: Transaction<Schema>, rows: Rows) {
  await trx.deleteFrom("jobs").execute();
  await trx.deleteFrom("rate_slots").where("key", "!=", "step:taken").execute();
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
  return trx
    .selectFrom("jobs")
    .selectAll()
    .select((eb) => eb("rate_key", "=", "step:taken").as("waits"))
    .where("state", "=", "ready")
    .where("suspect", "=", 0)
    .execute();
}

/** A transaction on a store in which the rate `step:taken` has no free slot. */
async function withTakenRate(work: (trx: Transaction<Schema>) => Promise<void>): Promise<void> {
  const { store } = await testStore();
  await store.transaction(async (trx) => {
    await takeRate(trx, "step:taken");
    await work(trx);
  });
}

const takeRate = (trx: Transaction<Schema>, key: string) =>
  trx
    .insertInto("rate_slots")
    .values({ key, next_at: NOW + RATE_MS, interval_ms: RATE_MS })
    .execute();

it("gives the same answers from memory as from the database", () =>
  withTakenRate((trx) =>
    assert(
      asyncProperty(jobs, async (rows) => {
        const ready = await replaceJobs(trx, rows);
        expect(await answersOf(await inDatabase(trx, NOW))).toEqual(await answersOf(inMemory(ready)));
      }),
    ),
  ));

const questions = array(
  record({
    priority: constantFrom(0, 7),
    full: constantFrom<string[]>([], ["database:a"]),
    owner: constantFrom("ann@x", "ann@x", "bob@x"),
    after: constantFrom("", "", "daily"),
    takesRate: boolean(),
  }),
  { minLength: 5, maxLength: 20 },
);

it("gives the same jobs while they are taken one after the other", () =>
  withTakenRate((trx) =>
    assert(
      asyncProperty(jobs, questions, async (rows, asked) => {
        // Owners and priorities of few values, so that many jobs are interchangeable.
        const alike = rows.map((row) => ({ ...row, subject: "ann@x", priority: 0 }));
        const memory = inMemory(await replaceJobs(trx, [...rows, ...alike]));
        const database = await inDatabase(trx, NOW);
        for (const { takesRate, ...place } of asked) {
          const job = await database.nextJob(place);
          expect(job?.id).toBe((await memory.nextJob(place))?.id);
          if (job === undefined) continue;
          expect(await database.nextOwner({ ...place, after: "" })).toBeDefined();
          await trx.updateTable("jobs").set({ state: "claimed" }).where("id", "=", job.id).execute();
          const rate = takesRate && job.rate_key !== null ? [job.rate_key] : [];
          for (const key of rate) await takeRate(trx, key);
          for (const queue of [memory, database]) queue.remove(job, rate);
        }
      }),
    ),
  ));

it("reads ahead, so that the next job alike needs no search", async () => {
  const { store } = await testStore();
  await store.transaction(async (trx) => {
    const alike = Array.from({ length: 60 }, () => ({
      subject: "ann@x",
      workflow_id: "daily",
      resource: null,
      rate_key: null,
      priority: 0,
      suspect: 0,
      state: "ready" as const,
    }));
    await replaceJobs(trx, alike);
    const queries = vi.spyOn(trx, "executeQuery");
    const ready = await inDatabase(trx, NOW);
    const place = { priority: 0, full: [], after: "" };
    for (let count = 0; count < 60; count += 1) {
      expect(await ready.nextOwner(place)).toBe("ann@x");
      // As a claim asks after a job of a workflow: first for the workflows after it.
      expect(await ready.nextJob({ ...place, owner: "ann@x", after: "daily" })).toBeUndefined();
      const job = (await ready.nextJob({ ...place, owner: "ann@x" }))!;
      ready.remove(job, []);
    }
    expect(queries).toHaveBeenCalled();
    expect(queries.mock.calls.length).toBeLessThan(10);
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
    const place = { priority: 0, full: [], owner: "?", after: "" };
    // A large queue is read from the database when it is asked for a job, a small one before.
    const many = await readyJobs(trx, NOW);
    await trx.deleteFrom("jobs").where("item", "=", 0).execute();
    expect(await many.nextJob(place)).toMatchObject({ item: 1 });
    const few = await readyJobs(trx, NOW);
    await trx.deleteFrom("jobs").where("item", "=", 1).execute();
    expect(await few.nextJob(place)).toMatchObject({ item: 1 });
  });
});
