/**
 * Two ways to carry jobs between executors on PostgreSQL, each with the writes of a run and nothing else: chains of three
 * steps, whose outcome is one transaction that ends the job, records the result and adds the next job.
 */
import { Logger, run, runMigrations, type Runner, type Task } from "graphile-worker";
import { Client, Pool, type PoolClient } from "pg";
import { PgBoss } from "pg-boss";
import { median } from "../support/table.ts";

export const STEPS = 3;

export interface ChainResult {
  perSecond: number;
  /** The median time of a chain, in milliseconds. */
  p50: number;
  /** Bytes of the write-ahead log, for each chain. */
  walBytes: number;
  /** Transactions, for each chain. */
  commits: number;
  /** CPU time of the process that executes, in milliseconds, for each chain. */
  cpuMs: number;
}

interface Engine {
  start(chain: number): Promise<void>;
  stop(): Promise<void>;
}

interface Claimed {
  id: string;
  chain: number;
  step: number;
  fence: number;
}

const SCHEMA = `
  create table chain_jobs (
    id bigserial primary key, chain integer not null, step integer not null, state text not null,
    fence integer not null default 0
  );
  create index chain_jobs_ready on chain_jobs (id) where state = 'ready';
  create table outcomes (chain integer not null, step integer not null, body text not null, primary key (chain, step))`;

const text = {
  claim: `update chain_jobs set state = 'claimed', fence = fence + 1 where id in (
      select id from chain_jobs where state = 'ready' order by id limit $1 for update skip locked
    ) returning id, chain, step, fence`,
  claimOne: `update chain_jobs set state = 'claimed', fence = fence + 1 where id = $1 and state = 'ready'
    returning id, chain, step, fence`,
  end: "delete from chain_jobs where id = $1 and fence = $2",
  record: "insert into outcomes (chain, step, body) values ($1, $2, $3)",
  add: "insert into chain_jobs (chain, step, state, fence) values ($1, $2, $3, $4) returning id, chain, step, fence",
  deliver: "select graphile_worker.add_job('step', json_build_object('id', $1::text), job_key := $1::text)",
} as const;

const query = <Row extends object>(client: PoolClient | Pool, name: keyof typeof text, values: unknown[]) =>
  client.query<Row>({ name, text: text[name], values });

async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } finally {
    client.release();
  }
}

/** Ends a job and adds the next one of its chain. @returns the added job */
async function recordOutcome(client: PoolClient, job: Claimed, state: string): Promise<Claimed | undefined> {
  await query(client, "end", [job.id, job.fence]);
  await query(client, "record", [job.chain, job.step, "x".repeat(100)]);
  if (job.step === STEPS) return undefined;
  const values = [job.chain, job.step + 1, state, state === "claimed" ? 1 : 0];
  return (await query<Claimed>(client, "add", values)).rows[0];
}

/** Rows that executors claim with SKIP LOCKED, woken by NOTIFY after each commit, as Millrace does. */
export async function claimedRows(
  url: string,
  slots: number,
  onEnd: (chain: number) => void,
  { successors = false } = {},
): Promise<Engine> {
  const pool = new Pool({ connectionString: url, max: slots + 2 });
  const listener = new Client(url);
  await listener.connect();
  await listener.query("listen chain_jobs");
  const executing = new Set<Promise<void>>();
  let isClaiming = false;
  let wanted = false;
  const execute = async (first: Claimed): Promise<void> => {
    for (let job: Claimed | undefined = first; job !== undefined;) {
      const current: Claimed = job;
      const next = await inTransaction(pool, (client) =>
        recordOutcome(client, current, successors ? "claimed" : "ready"),
      );
      if (next === undefined) onEnd(current.chain);
      job = successors ? next : undefined;
    }
  };
  const claim = async (): Promise<void> => {
    wanted = true;
    if (isClaiming) return;
    isClaiming = true;
    while (wanted && executing.size < slots) {
      wanted = false;
      const { rows } = await query<Claimed>(pool, "claim", [slots - executing.size]);
      for (const job of rows) {
        const done = execute(job).finally(() => {
          executing.delete(done);
          void claim();
        });
        executing.add(done);
      }
    }
    isClaiming = false;
  };
  listener.on("notification", () => void claim());
  return {
    async start(chain) {
      await query(pool, "add", [chain, 1, "ready", 0]);
      await pool.query("notify chain_jobs");
    },
    async stop() {
      while (executing.size > 0) await Promise.all(executing);
      await listener.end();
      await pool.end();
    },
  };
}

/** Rows that Graphile Worker delivers: a delivered job claims its row by compare-and-set and gets its fence there. */
export async function deliveredRows(
  url: string,
  slots: number,
  onEnd: (chain: number) => void,
  { localQueue = false } = {},
): Promise<Engine> {
  const pool = new Pool({ connectionString: url, max: slots + 2 });
  const step: Task = async (payload) => {
    const [job] = (await query<Claimed>(pool, "claimOne", [(payload as { id: string }).id])).rows;
    if (job === undefined) return;
    const next = await inTransaction(pool, async (client) => {
      const added = await recordOutcome(client, job, "ready");
      if (added !== undefined) await query(client, "deliver", [added.id]);
      return added;
    });
    if (next === undefined) onEnd(job.chain);
  };
  const runner = await startGraphile(url, slots, { step }, localQueue);
  return {
    start: (chain) =>
      inTransaction(pool, async (client) => {
        const { rows } = await query<Claimed>(client, "add", [chain, 1, "ready", 0]);
        await query(client, "deliver", [rows[0]!.id]);
      }),
    async stop() {
      await runner.stop();
      await pool.end();
    },
  };
}

/** The same with pg-boss, whose workers are woken by NOTIFY too. */
export async function rowsByPgBoss(
  url: string,
  slots: number,
  onEnd: (chain: number) => void,
): Promise<Engine> {
  const pool = new Pool({ connectionString: url, max: slots + 2 });
  const boss = new PgBoss({ connectionString: url, max: slots + 4, useListenNotify: true });
  boss.on("error", () => undefined);
  await boss.start();
  await boss.createQueue("step", { notify: true });
  const send = (client: PoolClient, { id }: Claimed): Promise<unknown> =>
    boss.send("step", { id }, { db: { executeSql: (sql, values) => client.query(sql, values) } });
  const batch = { batchSize: 4, burstWhenBatchFull: true, localConcurrency: Math.ceil(slots / 4) };
  await boss.work<{ id: string }>("step", batch, async (jobs) => {
    await Promise.all(
      jobs.map(async ({ data }) => {
        const [job] = (await query<Claimed>(pool, "claimOne", [data.id])).rows;
        if (job === undefined) return;
        const next = await inTransaction(pool, async (client) => {
          const added = await recordOutcome(client, job, "ready");
          if (added !== undefined) await send(client, added);
          return added;
        });
        if (next === undefined) onEnd(job.chain);
      }),
    );
  });
  return {
    start: (chain) =>
      inTransaction(pool, async (client) => {
        const { rows } = await query<Claimed>(client, "add", [chain, 1, "ready", 0]);
        await send(client, rows[0]!);
      }),
    async stop() {
      await boss.stop({ graceful: true, timeout: 5_000 });
      await pool.end();
    },
  };
}

/** Graphile Worker alone: one job that does nothing. @returns jobs per second of `count` jobs that are ready at the start */
export async function bareGraphile(
  url: string,
  slots: number,
  count: number,
  localQueue: boolean,
): Promise<number> {
  await runMigrations({ connectionString: url, logger: SILENT });
  const client = new Client(url);
  await client.connect();
  await client.query(
    "select graphile_worker.add_job('noop', json_build_object('n', n)) from generate_series(1, $1::int) as n",
    [count],
  );
  await client.end();
  let done = 0;
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const start = performance.now();
  const noop: Task = () => {
    done += 1;
    if (done === count) finish();
  };
  const runner = await startGraphile(url, slots, { noop }, localQueue);
  await finished;
  const seconds = (performance.now() - start) / 1000;
  await runner.stop();
  return count / seconds;
}

const SILENT = new Logger(() => () => undefined);

/** With a local queue, jobs are fetched and completed in batches: what its documentation recommends for high rates. */
async function startGraphile(
  url: string,
  slots: number,
  taskList: Record<string, Task>,
  localQueue: boolean,
): Promise<Runner> {
  return run({
    connectionString: url,
    maxPoolSize: slots + 4,
    concurrency: slots,
    pollInterval: 1_000,
    noHandleSignals: true,
    logger: SILENT,
    taskList,
    ...(localQueue && {
      preset: {
        worker: {
          concurrentJobs: slots,
          localQueue: { size: slots * 2 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
    }),
  });
}

/** Runs chains, a number of them at a time. */
export async function measureChains(
  url: string,
  open: (onEnd: (chain: number) => void) => Promise<Engine>,
  { chains, atATime }: { chains: number; atATime: number },
): Promise<ChainResult> {
  const stats = new Client(url);
  await stats.connect();
  await stats.query(SCHEMA);
  const waiting = new Map<number, () => void>();
  const engine = await open((chain) => waiting.get(chain)?.());
  const times: number[] = [];
  const one = async (chain: number): Promise<void> => {
    const start = performance.now();
    const ended = new Promise<void>((resolve) => waiting.set(chain, resolve));
    await engine.start(chain);
    await ended;
    waiting.delete(chain);
    times.push(performance.now() - start);
  };
  const warmUp = Math.ceil(chains / 5);
  const commitsBefore = await readCommits(stats);
  let next = 0;
  const runUntil = (end: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: atATime }, async () => {
        while (next < end) await one((next += 1));
      }),
    );
  await runUntil(warmUp);
  times.length = 0;
  const walBefore = await readWal(stats);
  const cpu = process.cpuUsage();
  const start = performance.now();
  await runUntil(warmUp + chains);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const wal = (await readWal(stats)) - walBefore;
  await engine.stop();
  const commits = (await readCommits(stats)) - commitsBefore;
  await stats.end();
  return {
    perSecond: times.length / seconds,
    p50: median(times),
    walBytes: wal / times.length,
    commits: commits / (warmUp + times.length),
    cpuMs: (user + system) / 1000 / times.length,
  };
}

const readWal = (client: Client): Promise<number> =>
  readNumber(client, "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as value");

/** Sessions report their transactions when they end, or within a second. */
async function readCommits(client: Client): Promise<number> {
  await client.query("select pg_sleep(1.5)");
  return readNumber(
    client,
    "select xact_commit as value from pg_stat_database where datname = current_database()",
  );
}

async function readNumber(client: Client, statement: string): Promise<number> {
  const { rows } = await client.query<{ value: string }>(statement);
  return Number(rows[0]!.value);
}
