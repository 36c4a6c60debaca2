/**
 * Records which deliveries were refused. Anybody who knows the URL can cause refusals, so of each code only some are listed one by
 * one; the others are counted on the last one that is listed, in at most one write per interval.
 */
import type { Logger } from "pino";
import { SECOND } from "../../../core/clock.ts";
import type { EngineTransaction } from "../../../core/run-ports.ts";
import type { NewTriggerDelivery } from "../../../core/trigger-ports.ts";

/** Number of refusals with one code of a trigger that are listed one by one, before their interval holds. */
const BURST = 10;
/** How often one more is listed after that, in milliseconds. */
const LIST_INTERVAL_MS = 10 * SECOND;
/** How often those are written that are only counted, in milliseconds. */
const COUNT_INTERVAL_MS = SECOND;
/** Number of triggers and codes that are remembered while nothing of them is to be written. */
const MAX_IDLE = 1_000;

interface Kind {
  /** How many may be listed one by one now; less than one where the next one is counted. */
  room: number;
  /** When `room` was computed. */
  at: number;
  /** The last one that is listed. */
  listedId: string;
  /** Those to be counted, as one of them; null without any. */
  counted: { refused: NewTriggerDelivery; count: number } | null;
  timer: NodeJS.Timeout | null;
}

export interface RefusalRecorder {
  /** Lists a refused delivery, or counts it. Never throws. */
  record(refused: NewTriggerDelivery): Promise<void>;
  /** Writes what is only counted yet. */
  close(): Promise<void>;
}

/** @param now a monotonic clock, in milliseconds */
export function refusalRecorder(
  transaction: EngineTransaction,
  log: Pick<Logger, "warn">,
  now: () => number = () => performance.now(),
): RefusalRecorder {
  const kinds = new Map<string, Kind>();

  return {
    async record(refused) {
      const kind = kindOf(refused);
      const time = now();
      kind.room = Math.min(BURST, kind.room + (time - kind.at) / LIST_INTERVAL_MS);
      kind.at = time;
      if (kind.room >= 1) {
        kind.room -= 1;
        await flush(kind);
        kind.listedId = refused.id;
        await list(refused);
        return;
      }
      kind.counted = { refused, count: (kind.counted?.count ?? 0) + 1 };
      kind.timer ??= setTimeout(() => void flush(kind), COUNT_INTERVAL_MS).unref();
    },

    async close() {
      for (const kind of kinds.values()) await flush(kind);
    },
  };

  function kindOf({ triggerId, code }: NewTriggerDelivery): Kind {
    const name = `${triggerId} ${code}`;
    const known = kinds.get(name);
    if (known !== undefined) return known;
    if (kinds.size >= MAX_IDLE)
      for (const [other, { counted }] of kinds) if (counted === null) kinds.delete(other);
    const kind: Kind = { room: BURST, at: now(), listedId: "", counted: null, timer: null };
    kinds.set(name, kind);
    return kind;
  }

  /** Adds those that were only counted to the one that is listed; where that is purged, the last one of them is listed. */
  async function flush(kind: Kind): Promise<void> {
    const { counted, listedId } = kind;
    if (kind.timer !== null) clearTimeout(kind.timer);
    kind.timer = null;
    kind.counted = null;
    if (counted === null) return;
    const { refused, count } = counted;
    await write(refused, async (tx) => {
      if (await tx.triggerDeliveries.addRepeats(listedId, count)) return;
      kind.listedId = refused.id;
      await tx.triggerDeliveries.record(refused);
      await tx.triggerDeliveries.addRepeats(refused.id, count - 1);
      await tx.triggerDeliveries.prune(refused.triggerId);
    });
  }

  function list(refused: NewTriggerDelivery): Promise<void> {
    return write(refused, async (tx) => {
      await tx.triggerDeliveries.record(refused);
      await tx.triggerDeliveries.prune(refused.triggerId);
    });
  }

  async function write(
    { workflowId }: NewTriggerDelivery,
    effect: Parameters<typeof transaction<void>>[0],
  ): Promise<void> {
    try {
      await transaction(effect);
    } catch (err) {
      log.warn({ err, workflow_id: workflowId }, "refused delivery not recorded");
    }
  }
}
