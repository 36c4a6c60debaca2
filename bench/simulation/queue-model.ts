/**
 * A model of the queue of jobs in virtual time: owners start runs of several steps, executors with slots claim the steps, and each
 * step ends with a commit of one shared database. Who may claim what is decided by the code of the product (`core/fair-queue.ts`,
 * `core/fair-share.ts`); the model replaces the database, the network and the work.
 */
import { type FairQueue, fairQueue } from "../../src/core/fair-queue.ts";
import { mayTakePlace } from "../../src/core/fair-share.ts";
import { eventQueue } from "./event-queue.ts";

/** All times are in seconds of virtual time. */
export interface OwnerLoad {
  name: string;
  /** Runs per second, as a Poisson process. */
  rate: number;
  /** Runs that are started at the beginning, at once. */
  backlog?: number;
  steps: number;
  /** Mean duration of a step, with an exponential distribution. */
  stepTime: number;
}

export interface Scenario {
  owners: readonly OwnerLoad[];
  executors: number;
  slots: number;
  /** Turns over owners with dynamic thresholds, as in the product; or one queue in the order of arrival. */
  order: "turns" | "arrival";
  /** How many commits the database makes at the same time, and how long each takes. Left out, commits take no time. */
  commits?: { parallel: number; time: number };
  /** Refuses new runs of an owner whose oldest job has waited for longer. */
  maxQueueAge?: number;
  /** When the first executor dies, and how long others take to notice. */
  death?: { at: number; lease: number };
  duration: number;
  seed: number;
}

export interface OwnerResult {
  started: number;
  refused: number;
  finished: number;
  /** How long each step waited for a slot. */
  waits: number[];
  /** When each run ended, and how long it took. */
  runs: { at: number; took: number }[];
}

interface Run {
  owner: OwnerLoad;
  startedAt: number;
  left: number;
}

interface Job {
  run: Run;
  readyAt: number;
}

interface Executor {
  held: Map<string, number>;
  free: number;
  running: Set<Job>;
  alive: boolean;
}

/** Runs a scenario to its end. The same seed gives the same result. */
export function simulate(scenario: Scenario): ReadonlyMap<string, OwnerResult> {
  const { owners, slots, commits, maxQueueAge = Infinity, death, duration } = scenario;
  const random = randomNumbers(scenario.seed);
  const exponential = (mean: number): number => -mean * Math.log(1 - random());
  const events = eventQueue();
  const queue: FairQueue<Job> = fairQueue();
  const keyOf = (owner: OwnerLoad): string => (scenario.order === "turns" ? owner.name : "");
  /** The jobs of each owner that nobody has claimed, oldest first. */
  const waiting = new Map(owners.map(({ name }) => [name, new Set<Job>()]));
  const results = new Map<string, OwnerResult>(
    owners.map(({ name }) => [name, { started: 0, refused: 0, finished: 0, waits: [], runs: [] }]),
  );
  const executors = Array.from({ length: scenario.executors }, (): Executor => ({
    held: new Map(),
    free: slots,
    running: new Set(),
    alive: true,
  }));
  /** When each connection of the database is free again. */
  const freeAt = Array.from({ length: commits?.parallel ?? 0 }, () => 0);

  function start(owner: OwnerLoad): void {
    const result = results.get(owner.name)!;
    const [oldest] = waiting.get(owner.name)!;
    if (oldest !== undefined && events.now() - oldest.readyAt > maxQueueAge) {
      result.refused += 1;
      return;
    }
    result.started += 1;
    enqueue({ run: { owner, startedAt: events.now(), left: owner.steps }, readyAt: events.now() });
  }

  function enqueue(job: Job): void {
    waiting.get(job.run.owner.name)!.add(job);
    queue.add(keyOf(job.run.owner), job);
  }

  /** Lets executors claim until none can, beginning with another one each time. */
  function claim(): void {
    const first = Math.floor(random() * executors.length);
    for (let index = 0; index < executors.length; index += 1) {
      const executor = executors[(first + index) % executors.length]!;
      while (executor.alive && executor.free > 0 && claimOne(executor)) continue;
    }
  }

  function claimOne(executor: Executor): boolean {
    const mayTake = (owner: string): boolean =>
      scenario.order === "arrival" ||
      mayTakePlace({ held: executor.held.get(owner) ?? 0, free: executor.free });
    const job = queue.take(mayTake);
    if (job === undefined) return false;
    const { owner } = job.run;
    waiting.get(owner.name)!.delete(job);
    results.get(owner.name)!.waits.push(events.now() - job.readyAt);
    const key = keyOf(owner);
    executor.free -= 1;
    executor.held.set(key, (executor.held.get(key) ?? 0) + 1);
    executor.running.add(job);
    events.after(exponential(owner.stepTime), () => {
      if (executor.running.has(job)) events.after(commitTime(), () => end(executor, job));
    });
    return true;
  }

  /** How long a commit takes from now on, with its wait for a connection. */
  function commitTime(): number {
    if (commits === undefined) return 0;
    const soonest = freeAt.indexOf(Math.min(...freeAt));
    freeAt[soonest] = Math.max(freeAt[soonest]!, events.now()) + commits.time;
    return freeAt[soonest] - events.now();
  }

  function end(executor: Executor, job: Job): void {
    // The outcome of a dead executor is refused by its fence.
    if (!executor.running.delete(job)) return;
    const { run } = job;
    const key = keyOf(run.owner);
    executor.free += 1;
    executor.held.set(key, executor.held.get(key)! - 1);
    run.left -= 1;
    if (run.left > 0) enqueue({ run, readyAt: events.now() });
    else {
      const result = results.get(run.owner.name)!;
      result.finished += 1;
      result.runs.push({ at: events.now(), took: events.now() - run.startedAt });
    }
    claim();
  }

  function kill(executor: Executor, lease: number): void {
    executor.alive = false;
    const lost = [...executor.running];
    executor.running.clear();
    events.after(lease, () => {
      for (const { run } of lost) enqueue({ run, readyAt: events.now() });
      claim();
    });
  }

  function arrive(owner: OwnerLoad): void {
    events.after(exponential(1 / owner.rate), () => {
      start(owner);
      claim();
      arrive(owner);
    });
  }

  for (const owner of owners) {
    for (let count = 0; count < (owner.backlog ?? 0); count += 1) start(owner);
    if (owner.rate > 0) arrive(owner);
  }
  claim();
  if (death !== undefined) events.after(death.at, () => kill(executors[0]!, death.lease));
  events.runUntil(duration);
  return results;
}

/** Uniform numbers in [0, 1): mulberry32 by Tommy Ettinger. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
