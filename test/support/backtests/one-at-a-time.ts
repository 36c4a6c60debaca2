/** Lets the jobs of each run and the answers of a peer continue one at a time, in an order that does not depend on how long they take. */
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { StepRef } from "../../../src/core/model.ts";
import type { JobHandler } from "../../../src/queue/types.ts";
import type { TestEngine } from "../engine.ts";

/** What continues first: by the ids of the steps, whatever is not a failure of the peer, or by a number that shuffles. */
export type Order = "by step" | "failures last" | number;

/** A job starts, or the peer answers or refuses. */
type Event = "start" | "answer" | "failure";

interface Held {
  runId: string;
  key: string;
  release(): void;
  fail(reason: unknown): void;
}

/**
 * @returns `hold`, which a job awaits before it continues, once at a time; and `inOrder`, which makes a handler do so before it starts.
 *   The slots of the executor must suffice for all jobs that can be claimed
 */
export function oneAtATime({ store }: Pick<TestEngine, "store">) {
  const held = new Set<Held>();
  const turns = { order: "by step" as Order, hold, inOrder };
  let isReleasing = false;

  function hold(event: Event, { runId, stepId, item }: StepRef): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const key = keyOf(turns.order, event, `${stepId}:${item ?? "-"}`);
    held.add({ runId, key, release: resolve, fail: reject });
    if (!isReleasing) void releaseAll();
    return promise;
  }

  function inOrder(handler: JobHandler): JobHandler {
    return async (job, context) => {
      await hold("start", job);
      return handler(job, context);
    };
  }

  async function releaseAll(): Promise<void> {
    isReleasing = true;
    try {
      while (held.size > 0) {
        if (await isQuiet()) releaseNext();
        else await setImmediate();
      }
    } catch (error) {
      for (const { fail } of held) fail(error);
      held.clear();
    } finally {
      isReleasing = false;
    }
  }

  /** Whether every job that is claimed or can be is held, so that nothing happens before one of them continues. */
  async function isQuiet(): Promise<boolean> {
    // Only what is held before the jobs are read was held when they were.
    const count = held.size;
    const jobs = await store.read
      .selectFrom("jobs")
      .select("id")
      .where("state", "in", ["claimed", "ready"])
      .execute();
    return jobs.length === count;
  }

  /** Releases the first one of each run: runs don't depend on each other. */
  function releaseNext(): void {
    const first = new Map<string, Held>();
    for (const event of held) {
      const other = first.get(event.runId);
      if (other === undefined || event.key < other.key) first.set(event.runId, event);
    }
    for (const event of first.values()) {
      held.delete(event);
      event.release();
    }
  }

  return turns;
}

export type OneAtATime = ReturnType<typeof oneAtATime>;

/** Events are released in the order of their keys. */
function keyOf(order: Order, event: Event, place: string): string {
  if (order === "by step") return `${event === "start" ? 1 : 0} ${place}`;
  if (order === "failures last") return `${event === "failure" ? 1 : 0} ${place}`;
  return createHash("sha256").update(`${order} ${event} ${place}`).digest("hex");
}
