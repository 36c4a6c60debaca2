/** Everything that stays open, with the key it belongs to: counted, kept alive, closed when its key dies. */
import type { ServerResponse } from "node:http";
import { OPERATOR } from "../../schemas/actor.ts";
import { AppError } from "../core/errors.ts";
import { type Meter, noMeter, type StreamKind } from "../core/meter.ts";
import type { Principal } from "../core/ports.ts";

/** Streams are looked over this often: a revoked key's are closed within it. */
const REVOCATION_CHECK_MS = 1_000;
/** How often a comment keeps a stream from being taken for dead. */
export const KEEP_ALIVE_MS = 15_000;
/** More than this and new ones are refused: each costs memory. */
const MAX_STREAMS = 2_000;
/** The share of a key, and of a person with all their keys and sessions: nobody takes the others' room. */
const SHARE = 200;

interface OpenStream {
  keyId: string;
  res: ServerResponse;
  /** Whether it needs a comment line now and then, so that proxies don't take it for dead. */
  keepAlive?: boolean;
  /** Whether it is the answer to a call, which ends by itself. */
  answer?: boolean;
}

export interface StreamRegistry {
  /** @returns a function that forgets the stream again */
  add(stream: OpenStream): () => void;
  /**
   * Takes the room of a stream that stays open.
   * @returns a function that gives it back, to be called once
   * @throws AppError too_many_streams, busy
   */
  reserve(whose: Pick<Principal, "keyId" | "owner">, kind: StreamKind): () => void;
  sendKeepAlives(): void;
  /** Closes those whose key is dead. */
  closeInvalid(deadAmong: (keyIds: readonly string[]) => Promise<string[]>): Promise<void>;
  /** Ends those that would stay open; answers are let finish. */
  closeAll(): void;
}

/** @param instead what a client without room can do in place of a stream */
export function createStreamRegistry(
  instead: string,
  meter: Pick<Meter, "streamCountChanged"> = noMeter,
): StreamRegistry {
  const streams = new Set<OpenStream>();
  const taken = new Map<string, number>();
  let all = 0;
  return {
    reserve({ keyId, owner }, kind) {
      // `operator` is no one person: whoever runs this makes keys in that name for many.
      const sharers = owner === OPERATOR ? [keyId] : [keyId, owner];
      const full = sharers.find((sharer) => (taken.get(sharer) ?? 0) >= SHARE);
      if (full !== undefined) {
        const whose = full === keyId ? "This key has" : `The keys and sessions of ${owner} have`;
        throw new AppError(
          "too_many_streams",
          `${whose} ${SHARE} open streams on this copy. Close one, or ${instead}.`,
          { headers: { "Retry-After": "5" } },
        );
      }
      if (all >= MAX_STREAMS) {
        throw new AppError(
          "busy",
          `This copy holds as many open streams as it can. Try again, or ${instead}.`,
          { headers: { "Retry-After": "5" } },
        );
      }
      all += 1;
      meter.streamCountChanged(kind, 1);
      for (const sharer of sharers) taken.set(sharer, (taken.get(sharer) ?? 0) + 1);
      return () => {
        all -= 1;
        meter.streamCountChanged(kind, -1);
        for (const sharer of sharers) {
          const left = taken.get(sharer)! - 1;
          if (left > 0) taken.set(sharer, left);
          else taken.delete(sharer);
        }
      };
    },
    add(stream) {
      streams.add(stream);
      // A call that outlives its stream writes after the end: nobody's error, and no reason to go down.
      stream.res.on("error", () => {});
      return () => streams.delete(stream);
    },
    sendKeepAlives() {
      for (const { keepAlive, res } of streams)
        if (keepAlive && !res.writableEnded && !res.writableNeedDrain) res.write(": keep-alive\n\n");
    },
    async closeInvalid(deadAmong) {
      if (streams.size === 0) return;
      const dead = new Set(await deadAmong([...new Set([...streams].map((stream) => stream.keyId))]));
      for (const { keyId, res } of streams) {
        if (!dead.has(keyId)) continue;
        // Who does not read would never see the end.
        if (res.writableLength === 0) res.end();
        else res.destroy();
      }
    },
    closeAll() {
      for (const { res, answer } of streams) if (!answer) res.end();
    },
  };
}

/**
 * Keeps streams alive, and ends those whose key has died.
 * @returns a function that stops that
 */
export function startStreamMaintenance(
  streams: StreamRegistry,
  deadAmong: (keyIds: readonly string[]) => Promise<string[]>,
  failed: (error: unknown) => void,
): () => void {
  const timers = [
    setInterval(() => streams.sendKeepAlives(), KEEP_ALIVE_MS),
    setInterval(() => void streams.closeInvalid(deadAmong).catch(failed), REVOCATION_CHECK_MS),
  ];
  return () => timers.forEach(clearInterval);
}
