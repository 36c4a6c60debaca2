/** Open event streams by API key or session: limits their number, keeps them alive, and closes those of invalid keys. */
import type { ServerResponse } from "node:http";
import { OPERATOR } from "../../schemas/actor.ts";
import { accessText } from "../core/access.ts";
import { AppError } from "../core/errors.ts";
import { type Meter, noMeter, type StreamKind } from "../core/meter.ts";
import type { Principal } from "../core/ports.ts";
import type { Callers } from "./still-allowed.ts";

/** Interval of the check for revoked and expired keys, in milliseconds. */
const REVOCATION_CHECK_MS = 1_000;
/** Interval of keep-alive comments, in milliseconds. */
export const KEEP_ALIVE_MS = 15_000;
/** Maximum number of open streams of the process, because each costs memory. */
const MAX_STREAMS = 2_000;
/** Maximum number of open streams of a key, and of a user with all their keys and sessions. */
const MAX_PER_OWNER = 200;

/** Maximum number of keys and sessions whose access is read in one check, because each costs two reads. */
const MAX_ACCESS_CHECKS = 100;

interface OpenStream {
  /** Whose stream it is, with the access of when it was opened. */
  principal: Pick<Principal, "keyId" | "access">;
  res: ServerResponse;
  /** Whether it gets keep-alive comments, so that proxies do not close it as idle. */
  keepAlive?: boolean;
  /** Whether it is the response to a call, and so ends by itself. */
  answer?: boolean;
}

export interface StreamRegistry {
  /** Registers a stream. @returns a function that removes it */
  add(stream: OpenStream): () => void;
  /**
   * Reserves a place for a stream.
   * @returns a function that releases it, to be called once
   * @throws AppError too_many_streams, busy
   */
  reserve(principal: Pick<Principal, "keyId" | "owner">, kind: StreamKind): () => void;
  sendKeepAlives(): void;
  /** Closes the streams of invalid keys, and those of callers who may see or do something else now: they open new ones. */
  closeInvalid(callers: Callers): Promise<void>;
  /** Ends the streams that would stay open; responses to calls may finish. */
  closeAll(): void;
}

/** @param alternative what a refused client can do instead of opening a stream */
export function createStreamRegistry(
  alternative: string,
  meter: Pick<Meter, "streamCountChanged"> = noMeter,
): StreamRegistry {
  const streams = new Set<OpenStream>();
  const counts = new Map<string, number>();
  let total = 0;
  /** Where the next check of accesses begins. */
  let checked = 0;
  return {
    reserve({ keyId, owner }, kind) {
      // Several people use keys of `operator`, so these are counted one by one.
      const subjects = owner === OPERATOR ? [keyId] : [keyId, owner];
      const full = subjects.find((subject) => (counts.get(subject) ?? 0) >= MAX_PER_OWNER);
      if (full !== undefined) {
        const holder = full === keyId ? "This key has" : `The keys and sessions of ${owner} have`;
        throw new AppError(
          "too_many_streams",
          `${holder} ${MAX_PER_OWNER} open streams on this copy. Close one, or ${alternative}.`,
          { headers: { "Retry-After": "5" } },
        );
      }
      if (total >= MAX_STREAMS) {
        throw new AppError(
          "busy",
          `This copy has ${MAX_STREAMS} open streams, the maximum. Try again, or ${alternative}.`,
          { headers: { "Retry-After": "5" } },
        );
      }
      total += 1;
      meter.streamCountChanged(kind, 1);
      for (const subject of subjects) counts.set(subject, (counts.get(subject) ?? 0) + 1);
      return () => {
        total -= 1;
        meter.streamCountChanged(kind, -1);
        for (const subject of subjects) {
          const remaining = counts.get(subject)! - 1;
          if (remaining > 0) counts.set(subject, remaining);
          else counts.delete(subject);
        }
      };
    },
    add(stream) {
      streams.add(stream);
      // A call may write after its stream has ended. Without a listener that error would end the process.
      stream.res.on("error", () => {});
      return () => streams.delete(stream);
    },
    sendKeepAlives() {
      for (const { keepAlive, res } of streams)
        if (keepAlive && !res.writableEnded && !res.writableNeedDrain) res.write(": keep-alive\n\n");
    },
    async closeInvalid({ findInvalid, accessOf }) {
      if (streams.size === 0) return;
      const ids = [...new Set([...streams].map(({ principal }) => principal.keyId))];
      const invalid = new Set(await findInvalid(ids));
      // In turns, so that many streams don't make each check long.
      const from = checked % ids.length;
      const turn = [...ids.slice(from), ...ids.slice(0, from)].slice(0, MAX_ACCESS_CHECKS);
      checked = from + turn.length;
      const access = new Map<string, string>();
      for (const id of turn) {
        const current = invalid.has(id) ? undefined : await accessOf(id);
        if (current !== undefined) access.set(id, accessText(current));
      }
      for (const { principal, res } of streams) {
        const { keyId } = principal;
        const current = access.get(keyId);
        const isOutdated = current !== undefined && current !== accessText(principal.access);
        if (!invalid.has(keyId) && !isOutdated) continue;
        // A client that does not read would keep the connection open.
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
 * Starts the timers that keep streams alive and close those of invalid keys.
 * @returns a function that stops them
 */
export function startStreamMaintenance(
  streams: StreamRegistry,
  callers: Callers,
  onError: (error: unknown) => void,
): () => void {
  const timers = [
    setInterval(() => streams.sendKeepAlives(), KEEP_ALIVE_MS),
    setInterval(() => void streams.closeInvalid(callers).catch(onError), REVOCATION_CHECK_MS),
  ];
  return () => timers.forEach(clearInterval);
}
