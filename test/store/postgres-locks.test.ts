import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { engineTransaction } from "../../src/store/engine-transaction.ts";
import { promoteDueJobs } from "../../src/store/promote-jobs.ts";
import { purgeRuns } from "../../src/store/purge-runs.ts";
import { releaseValues, storeJson } from "../../src/store/run-values.ts";
import { purgeIdempotencyKeys } from "../../src/store/unit-of-work.ts";
import { untilPassing } from "../support/eventually.ts";
import { fakeClock } from "../support/instance.ts";
import { postgresStores } from "../support/postgres-stores.ts";
import { claimedJob, newRun } from "../support/run-records.ts";

const { open, createDatabase, connect } = postgresStores();

/** A store, a connection that holds locks, and what shows who waits for them. */
async function setup() {
  const url = await createDatabase();
  const clock = fakeClock();
  const store = await open(url, { clock });
  const [holder, observer] = await Promise.all([connect(url), connect(url)]);
  const query = async <T extends object>(text: string): Promise<T[]> => (await observer.query<T>(text)).rows;
  return {
    clock,
    store,
    query,
    transaction: engineTransaction(store, clock),
    /** Locks the rows that a statement selects. @returns what unlocks them */
    async lock(select: string): Promise<() => Promise<unknown>> {
      await holder.query("begin");
      await holder.query(`${select} for update`);
      return () => holder.query("rollback");
    },
    /** Resolves when so many transactions wait for locks. */
    waiting: (count: number) =>
      untilPassing(async () => {
        const found = await query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        expect(found).toHaveLength(count);
      }),
  };
}

/** A transaction that stays open until `end`, after its work. */
function held(begin: (work: () => Promise<void>) => Promise<unknown>) {
  const [began, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const committed = begin(async () => {
    began.resolve();
    await ended.promise;
  });
  return {
    began: Promise.race([began.promise, committed]),
    end: () => {
      ended.resolve();
      return committed;
    },
  };
}

const OLD = "2000-01-01T00:00:00.000Z";
const NOW = "2026-11-21T08:00:00.000Z";

/** Inserts jobs that are due, of runs with the numbers of a range. */
const jobs = (subject: string, priority: number, from: number, to: number): string =>
  `insert into jobs (kind, state, priority, due_at, run_id, step_id, item, attempt, tries, fence, suspect, kills, alone, subject)
   select 'step', 'later', ${priority}, '${OLD.slice(0, 10)}' || to_char(n, 'FM0000'), 'run_' || n, 'a', -1, 1, 1, 0, 0, 0, 0, '${subject}'
   from generate_series(${from}, ${to}) as n`;

describe("rows that another transaction has locked", () => {
  it("are left out by a purge of runs, which does not wait", async () => {
    const { store, transaction, lock, query } = await setup();
    await transaction(async (tx) => {
      for (const id of ["run_1", "run_2"]) {
        await tx.runs.insert(newRun(id, { workflowId: null }));
        await tx.runs.update(id, { seq: 1, status: "succeeded", finishedAt: OLD });
      }
    });
    const purge = () =>
      store.transaction((trx) => purgeRuns(trx, { before: NOW, now: NOW, limit: 10 }), "rows");
    const unlock = await lock("select 1 from runs where id = 'run_1'");
    await purge();
    expect(await query("select id from runs")).toEqual([{ id: "run_1" }]);
    await unlock();
    await purge();
    expect(await query("select id from runs")).toEqual([]);
  });

  it("are left out by an executor that makes jobs ready: the oldest, those that stop work, and those of each owner", async () => {
    const { store, lock, query } = await setup();
    // More than one claim makes ready, so that all three ways are used.
    for (const insert of [jobs("ann", 0, 1, 505), jobs("ann", 100, 600, 600), jobs("ben", 0, 700, 700)])
      await query(insert);
    const unlock = await lock("select 1 from jobs where run_id in ('run_1', 'run_600', 'run_700')");
    const promote = () => store.transaction((trx) => promoteDueJobs(trx, NOW), "rows");
    const later = () => query("select run_id from jobs where state = 'later' order by id");
    await promote();
    expect(await later()).toEqual(["run_1", "run_600", "run_700"].map((id) => ({ run_id: id })));
    await unlock();
    await promote();
    expect(await later()).toEqual([]);
  });

  it("are left out by a request that purges idempotency records", async () => {
    const { store, clock, lock, query } = await setup();
    await query(
      `insert into idempotency_keys (principal, operation, key, request_hash, result, created_at)
       select 'key_1', 'create', 'key ' || n, '', '{}', '${OLD}' from generate_series(1, 2) as n`,
    );
    const unlock = await lock("select 1 from idempotency_keys where key = 'key 1'");
    await store.transaction((trx) => purgeIdempotencyKeys(trx, clock.now(), 50), "rows");
    expect(await query("select key from idempotency_keys")).toEqual([{ key: "key 1" }]);
    await unlock();
  });
});

describe("locks of rows that a transaction reads first and changes then", () => {
  it("keep a stored value that a run begins to use while another one is purged", async () => {
    const { store, query, waiting } = await setup();
    const json = JSON.stringify("x".repeat(2_000));
    const refer = (run: string) => (trx: Parameters<typeof storeJson>[0]) => storeJson(trx, run, json);
    await store.transaction(refer("run_1"), "rows");
    const second = held((work) =>
      store.transaction(async (trx) => {
        await refer("run_2")(trx);
        await work();
      }, "rows"),
    );
    await second.began;
    const purged = store.transaction((trx) => releaseValues(trx, "run_1", 10), "rows");
    await Promise.race([purged, waiting(1)]);
    await second.end();
    await purged;
    expect(
      await query("select holder, length(body) from value_refs join run_values on id = value_id"),
    ).toEqual([{ holder: "run_2", length: json.length }]);
  });

  it("give no further job to an executor that is being reclaimed", async () => {
    const { transaction, query, waiting } = await setup();
    await transaction(async (tx) => {
      await tx.jobs.heartbeat("exe_1", NOW);
      await tx.jobs.add({ ...claimedJob(), item: null, dueAt: null });
    });
    const reclaimed = held((work) =>
      transaction(async (tx) => {
        await tx.jobs.reclaim("exe_1");
        await work();
      }),
    );
    await reclaimed.began;
    const claimed = transaction((tx) => tx.jobs.claimSuccessor(claimedJob(), "exe_1"));
    await Promise.race([claimed, waiting(1)]);
    await reclaimed.end();
    expect(await claimed).toBeUndefined();
    expect(await query("select state from jobs")).toEqual([{ state: "ready" }]);
  });
});

describe("the lock of the whole state", () => {
  it.each([
    ["rows", "database"],
    ["database", "rows"],
    ["database", "database"],
  ] as const)("held for %s makes a transaction that locks %s wait", async (first, second) => {
    const { store, waiting } = await setup();
    const order: string[] = [];
    const one = held((work) =>
      store.transaction(async (trx) => {
        // One that shares the lock has it with its first statement.
        await sql`select 1`.execute(trx);
        await work();
      }, first),
    );
    await one.began;
    const two = store.transaction(async (trx) => {
      await sql`select 1`.execute(trx);
      order.push("second");
    }, second);
    await Promise.race([two, waiting(1)]);
    order.push("first");
    await one.end();
    await two;
    expect(order).toEqual(["first", "second"]);
  });
});
