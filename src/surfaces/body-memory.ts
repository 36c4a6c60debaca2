/** Shares the memory for the bodies of requests among owners, so that one of them never holds all of it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "../core/errors.ts";
import { mayTakePlaces } from "../core/fair-share.ts";

/** Unit of the shares, in bytes. */
const PLACE_BYTES = 64 * 1024;
/** Bodies of all requests in progress, in bytes. A parsed body can take ten times as much. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Maximum size of one body, in bytes. It is assumed where a request does not say its size. */
const MAX_BODY_BYTES = 1024 * 1024;
/** When a refused caller may try again, in seconds. */
const RETRY_AFTER_S = 2;

export interface BodyMemory {
  /**
   * Reserves the memory for the body of a request until its response has ended.
   * @param owner the usage subject of the caller (usage-limits.ts), or the network of a caller without a key
   * @throws AppError rate_limited
   */
  reserve(req: IncomingMessage, res: ServerResponse, owner: string): void;
}

/** @param maxBytes of all bodies together */
export function bodyMemory(maxBytes = MAX_BYTES): BodyMemory {
  const heldBy = new Map<string, number>();
  let free = Math.floor(maxBytes / PLACE_BYTES);
  return {
    reserve(req, res, owner) {
      const places = Math.ceil(bodyBytes(req) / PLACE_BYTES);
      if (places === 0) return;
      const held = heldBy.get(owner) ?? 0;
      if (!mayTakePlaces(places, { held, free })) throw tooMuch();
      const take = (count: number): void => {
        const rest = (heldBy.get(owner) ?? 0) + count;
        if (rest === 0) heldBy.delete(owner);
        else heldBy.set(owner, rest);
        free -= count;
      };
      take(places);
      res.once("close", () => take(-places));
    },
  };
}

function bodyBytes({ headers }: IncomingMessage): number {
  const isCompressed = (headers["content-encoding"] ?? "identity").toLowerCase() !== "identity";
  if (headers["transfer-encoding"] !== undefined || isCompressed) return MAX_BODY_BYTES;
  // A larger body is refused when it is read.
  return Math.min(Number(headers["content-length"] ?? 0), MAX_BODY_BYTES);
}

const tooMuch = (): AppError =>
  new AppError(
    "rate_limited",
    "Your requests in progress have too large bodies together. Wait for some of them to end: " +
      `try again in ${RETRY_AFTER_S} s, with fewer requests at a time.`,
    { headers: { "Retry-After": String(RETRY_AFTER_S) } },
  );
