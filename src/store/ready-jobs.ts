/**
 * The jobs that are ready, as a claim chooses from them: which owner is next, and which job of this owner. A small queue
 * is read at once. In a large one each question is answered by an index: jobs of one owner, priority, workflow, resource
 * and rate are interchangeable, so a statement reads the first of them and jumps over the others.
 */
import { type Kysely, type Selectable, sql } from "kysely";
import type { QueueHead } from "../core/job-ports.ts";
import { isOneOf, lockName, withoutAffinity, writesConcurrently } from "./dialect.ts";
import { prepared, statement } from "./prepared.ts";
import { isTaken, waitsForSlot } from "./rate-slots.ts";
import type { JobRow, Schema } from "./schema.ts";

/** Maximum number of ready jobs that are read at once. */
const SMALL_QUEUE = 64;
/** Maximum number of jobs among which the oldest of a workflow is chosen: one of each of its resources and rates. */
const MAX_HEADS = 20;
/** Number of interchangeable jobs that are read at once. */
const READ_AHEAD = 50;
/**
 * Sorts after the gate of a job and before all others: compared with the gate itself, SQLite would read all jobs that have
 * it.
 */
const AFTER_GATE = sql`head.gate || ' '`;

export type ReadyJob = Selectable<JobRow>;

/** Where to look for the next job. */
interface Place {
  priority: number;
  /** Resources that are full. */
  full: readonly string[];
}

export interface ReadyJobs {
  /** The priorities of the ready jobs, the highest first. */
  priorities: readonly number[];
  /** The first owner after another one, with a job that can start. */
  nextOwner(place: Place & { after: string }): Promise<string | undefined>;
  /** The oldest job that can start, of an owner's first workflow after another one. */
  nextJob(place: Place & { owner: string; after: string }): Promise<ReadyJob | undefined>;
  /** Takes a job out. @param usedRates the rates whose slots it has taken */
  remove(job: ReadyJob, usedRates: readonly string[]): void;
  /** Leaves out a job that another executor is claiming. @returns false where it can't, so that its owner is left out */
  skip(job: ReadyJob): boolean;
}

/**
 * Locks: where several executors claim at the same time, one at a time claims from a large queue, or when a limit holds for
 * one of the jobs. All others only skip the jobs that somebody is claiming.
 * @param now milliseconds since 1970: jobs whose rate has no free slot then can't start
 * @param isLimited whether a limit or a rate holds for a job; left out, for none
 */
export async function readyJobs(
  trx: Kysely<Schema>,
  now: number,
  isLimited: (job: ReadyJob) => boolean = () => false,
): Promise<ReadyJobs> {
  let rows = await firstReady(trx, now);
  if (writesConcurrently(trx) && (rows.length > SMALL_QUEUE || rows.some(isLimited))) {
    await lockName(trx, "claims", "limited");
    // What the one before has claimed counts.
    rows = await firstReady(trx, now);
  }
  return rows.length <= SMALL_QUEUE ? inMemory(rows) : inDatabase(trx, now);
}

const firstReady = prepared((db, now: number) =>
  db
    .selectFrom("jobs")
    .selectAll()
    .select(waitsForSlot(now).as("waits"))
    .where("state", "=", sql.lit("ready"))
    .where("suspect", "=", sql.lit(0))
    .limit(SMALL_QUEUE + 1),
);

/**
 * Whether a job is ready, of any owner, whose rate has a free slot, or is due.
 * @param now milliseconds since 1970
 * @param dueAt due jobs up to this time count (ISO 8601)
 */
export const hasReadyJob = async (db: Kysely<Schema>, now: number, dueAt: string): Promise<boolean> =>
  (await anyReady(db, now, dueAt)).length > 0;

/** The condition that the rate of a job has a free slot. */
const hasSlot = (now: number) =>
  sql`not exists (select 1 from rate_slots where key in (head.rate_key, head.resource) and ${isTaken(now)})`;

/** The condition that a job can start: its resource is not full, and its rate has a free slot. */
const canStart = (full: string, now: number) =>
  sql`(head.resource is null or not ${isOneOf(sql.ref("head.resource"), full)}) and ${hasSlot(now)}`;

const anyReady = prepared((db, now: number, dueAt: string) => {
  const plus = withoutAffinity(db);
  return statement<{ found: number }>(
    db,
    sql`select 1 as found where exists (select 1 from jobs where state = 'later' and due_at <= ${dueAt}) or exists (
    with recursive heads (id) as (
      select (
        select id from jobs where state = 'ready'
        order by suspect, priority, subject, workflow_id, gate, id limit 1
      )
      union all
      select (
        select id from jobs where state = 'ready' and (suspect, priority, subject, workflow_id, gate)
        > (${plus}head.suspect, ${plus}head.priority, ${plus}head.subject, ${plus}head.workflow_id, ${AFTER_GATE})
        order by suspect, priority, subject, workflow_id, gate, id limit 1
      )
      from heads join jobs as head on head.id = heads.id
    )
    select 1 from heads join jobs as head on head.id = heads.id where ${hasSlot(now)})`,
  );
});

/** The next job of each owner, priority and workflow, of jobs without resource and rate. */
export const queueHeads = prepared((db) => {
  const plus = withoutAffinity(db);
  return statement<QueueHead>(
    db,
    sql`with recursive heads (id) as (
      select (
        select id from jobs where state = 'ready' and suspect = 0
        order by priority, subject, workflow_id, gate, id limit 1
      )
      union all
      select (
        select id from jobs where state = 'ready' and suspect = 0 and (priority, subject, workflow_id, gate)
        > (${plus}head.priority, ${plus}head.subject, ${plus}head.workflow_id, ${AFTER_GATE})
        order by priority, subject, workflow_id, gate, id limit 1
      )
      from heads join jobs as head on head.id = heads.id
    )
    select head.subject as owner, head.priority, head.due_at as since from heads join jobs as head on head.id = heads.id
    where head.resource is null and head.rate_key is null`,
  );
});

/** Exported for the tests, as is `inDatabase`: both answer every question alike. */
export function inMemory(rows: readonly (ReadyJob & { waits: unknown })[]): ReadyJobs {
  let jobs = rows.filter(({ waits }) => Number(waits) === 0).toSorted((a, b) => a.id - b.id);
  const find = ({ priority, full }: Place): ReadyJob[] =>
    jobs.filter(
      (job) => job.priority === priority && (job.resource === null || !full.includes(job.resource)),
    );
  return {
    priorities: [...new Set(rows.map(({ priority }) => priority))].toSorted((a, b) => b - a),
    nextOwner: async ({ after, ...place }) =>
      find(place)
        .map(({ subject }) => subject)
        .filter((subject) => subject > after)
        .toSorted()[0],
    async nextJob({ owner, after, ...place }) {
      const own = find(place).filter((job) => job.subject === owner && job.workflow_id > after);
      const workflow = own.map((job) => job.workflow_id).toSorted()[0];
      return own.find((job) => job.workflow_id === workflow);
    },
    skip({ id }) {
      jobs = jobs.filter((job) => job.id !== id);
      return true;
    },
    remove(taken, usedRates) {
      jobs = jobs.filter(
        ({ id, resource, rate_key: rate }) =>
          id !== taken.id && !usedRates.some((key) => key === resource || key === rate),
      );
    },
  };
}

/** Reads ahead, because a claim asks for many jobs of the same owners and workflows one after the other. */
export async function inDatabase(trx: Kysely<Schema>, now: number): Promise<ReadyJobs> {
  const priorities = await readyPriorities(trx);
  const taken = new Set<number>();
  const owners = new Map<string, string | undefined>();
  const heads = new Map<string, readonly ReadyJob[]>();
  const followers = new Map<string, readonly ReadyJob[]>();

  /** The next job that is interchangeable with `job`, except that it came later. */
  async function nextLike(job: ReadyJob): Promise<ReadyJob | undefined> {
    const key = JSON.stringify([job.priority, job.subject, job.workflow_id, job.gate]);
    const isNext = ({ id }: ReadyJob): boolean => id > job.id && !taken.has(id);
    const known = followers.get(key)?.find(isNext);
    if (known !== undefined) return known;
    const { priority, subject, workflow_id: workflow, gate, id } = job;
    const found = await jobsAfter(trx, priority, subject, workflow, gate, id);
    followers.set(key, found);
    return found.find(isNext);
  }

  /** The heads of a place, in which jobs that were taken are replaced by the next ones like them. */
  async function knownHeads(key: string): Promise<readonly ReadyJob[] | undefined> {
    const known = heads.get(key);
    if (known === undefined) return undefined;
    const current: ReadyJob[] = [];
    for (const job of known) {
      const next = taken.has(job.id) ? await nextLike(job) : job;
      // Another head may have been beyond the limit of the query.
      if (next === undefined) return undefined;
      current.push(next);
    }
    return current;
  }

  return {
    priorities: priorities.map(({ priority }) => priority),
    async nextOwner({ priority, full, after }) {
      const key = JSON.stringify([priority, full, after]);
      // An owner whose last job was taken meanwhile is found to have none by `nextJob`.
      if (!owners.has(key)) {
        const [row] = await ownerAfter(trx, priority, after, JSON.stringify(full), now);
        owners.set(key, row?.subject);
      }
      return owners.get(key);
    },
    async nextJob({ priority, full, owner, after }) {
      const key = JSON.stringify([priority, full, owner, after]);
      const found =
        (await knownHeads(key)) ?? (await headsAfter(trx, priority, owner, after, JSON.stringify(full), now));
      heads.set(key, found);
      return found
        .filter(({ workflow_id: workflow }) => workflow === found[0]!.workflow_id)
        .toSorted((a, b) => a.id - b.id)[0];
    },
    remove({ id }, usedRates) {
      taken.add(id);
      if (usedRates.length === 0) return;
      // Other jobs of these rates have to wait now.
      for (const cache of [owners, heads, followers]) cache.clear();
    },
    skip: () => false,
  };
}

/** The priorities of ready jobs, the highest first. */
const readyPriorities = prepared((db) =>
  statement<{ priority: number }>(
    db,
    sql`with recursive found (priority) as (
      select max(priority) from jobs where state = 'ready' and suspect = 0
      union all
      select (select max(priority) from jobs where state = 'ready' and suspect = 0 and priority < found.priority)
      from found where found.priority is not null
    )
    select priority from found where priority is not null`,
  ),
);

const ownerAfter = prepared((db, priority: number, after: string, full: string, now: number) => {
  const plus = withoutAffinity(db);
  return statement<{ subject: string }>(
    db,
    sql`with recursive heads (id) as (
      select (
        select id from jobs where state = 'ready' and suspect = 0 and priority = ${priority} and subject > ${after}
        order by subject, workflow_id, gate, id limit 1
      )
      union all
      select (
        select id from jobs where state = 'ready' and suspect = 0 and priority = ${priority}
        and (subject, workflow_id, gate) > (${plus}head.subject, ${plus}head.workflow_id, ${AFTER_GATE})
        order by subject, workflow_id, gate, id limit 1
      )
      from heads join jobs as head on head.id = heads.id
    )
    select head.subject from heads join jobs as head on head.id = heads.id
    where ${canStart(full, now)}
    limit 1`,
  );
});

const headsAfter = prepared(
  (db, priority: number, owner: string, after: string, full: string, now: number) => {
    const plus = withoutAffinity(db);
    return statement<ReadyJob>(
      db,
      sql`with recursive heads (id) as (
      select (
        select id from jobs where state = 'ready' and suspect = 0 and priority = ${priority} and subject = ${owner}
        and workflow_id > ${after}
        order by workflow_id, gate, id limit 1
      )
      union all
      select (
        select id from jobs where state = 'ready' and suspect = 0 and priority = ${priority} and subject = ${owner}
        and (workflow_id, gate) > (${plus}head.workflow_id, ${AFTER_GATE})
        order by workflow_id, gate, id limit 1
      )
      from heads join jobs as head on head.id = heads.id
    )
    select head.* from heads join jobs as head on head.id = heads.id
    where ${canStart(full, now)}
    limit ${sql.lit(MAX_HEADS)}`,
    );
  },
);

/** The jobs that are interchangeable with one, except that they came later. */
const jobsAfter = prepared(
  (db, priority: number, owner: string, workflow: string, gate: string, id: number) =>
    db
      .selectFrom("jobs")
      .selectAll()
      .where("state", "=", sql.lit("ready"))
      .where("suspect", "=", sql.lit(0))
      .where("priority", "=", priority)
      .where("subject", "=", owner)
      .where("workflow_id", "=", workflow)
      .where("gate", "=", gate)
      .where("id", ">", id)
      .orderBy("id")
      .limit(sql.lit(READ_AHEAD)),
);
