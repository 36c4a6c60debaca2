/** Fetches public keys within limits, so that tokens with unknown keys cannot make this server flood another one. */
import { FetchError } from "aws-jwt-verify/error";
import type { Fetcher } from "aws-jwt-verify/https";
import { LRUCache } from "lru-cache";
import { boundedFetch } from "../core/bounded-fetch.ts";
import { type Clock, MINUTE, SECOND } from "../core/clock.ts";

/** Time limit of a request, in milliseconds. */
const TIMEOUT_MS = 5 * SECOND;
/** Maximum size of a response, in bytes. */
const MAX_BYTES = 64 * 1024;
/** Maximum number of requests per minute: several times as many as a key rotation needs. */
const MAX_FETCHES_PER_MINUTE = 30;
/** How long a missing key is not requested again, in milliseconds. */
const MISSING_MS = 30 * SECOND;

/** @param fetchKeys the global `fetch`, or that of a test */
export function keyFetcher(clock: Clock, fetchKeys: typeof fetch): Fetcher {
  let fetchedAt: number[] = [];
  const missing = new LRUCache<string, true>({
    max: MAX_FETCHES_PER_MINUTE,
    // lru-cache keeps an entry for one millisecond more.
    ttl: MISSING_MS - 1,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  return {
    async fetch(uri) {
      const now = clock.now();
      fetchedAt = fetchedAt.filter((at) => now - at < MINUTE);
      if (missing.has(uri)) throw new FetchError(uri, "the key was missing a moment ago");
      if (fetchedAt.length >= MAX_FETCHES_PER_MINUTE)
        throw new FetchError(uri, `more than ${MAX_FETCHES_PER_MINUTE} keys were requested within a minute`);
      fetchedAt.push(now);
      const response = await boundedFetch(
        fetchKeys,
        uri,
        { redirect: "error" },
        {
          maxBytes: MAX_BYTES,
          timeoutMs: TIMEOUT_MS,
          tooLarge: () => new FetchError(uri, `the response is larger than ${MAX_BYTES / 1024} KiB`),
        },
      ).catch((error: unknown) => {
        throw new FetchError(uri, String((error as Error).cause ?? error));
      });
      if (!response.ok) {
        // An error of the server may be gone at the next request; a missing key stays missing for a while.
        if (response.status < 500) missing.set(uri, true);
        await response.body?.cancel();
        throw new FetchError(uri, `the server answered ${response.status}`);
      }
      return response.arrayBuffer();
    },
  };
}
