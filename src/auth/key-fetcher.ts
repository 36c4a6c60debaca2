/** Fetches public keys, within bounds: whoever sends tokens with keys that nobody knows must not make us a hammer. */
import { FetchError } from "aws-jwt-verify/error";
import type { Fetcher } from "aws-jwt-verify/https";
import { readBoundedBody } from "../core/read-bounded-body.ts";
import { type Clock, MINUTE, SECOND } from "../core/clock.ts";

const TIMEOUT_MS = 5 * SECOND;
const LARGEST_BYTES = 64 * 1024;
/** As many keys as a rotation may bring, several times over. */
const FETCHES_A_MINUTE = 30;
/** So long a key that was not there is not asked for again. */
const ABSENT_MS = 30 * SECOND;

/** @param fetchKeys the global `fetch`, or a test's */
export function keyFetcher(clock: Clock, fetchKeys: typeof fetch): Fetcher {
  let fetched: number[] = [];
  const absent = new Map<string, number>();
  return {
    async fetch(uri) {
      const now = clock.now();
      fetched = fetched.filter((at) => now - at < MINUTE);
      for (const [known, at] of absent) if (now - at >= ABSENT_MS) absent.delete(known);
      if (absent.has(uri)) throw new FetchError(uri, "it was not there a moment ago");
      if (fetched.length >= FETCHES_A_MINUTE) throw new FetchError(uri, "too many keys were asked for");
      fetched.push(now);
      const response = await fetchKeys(uri, {
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch((error: unknown) => {
        throw new FetchError(uri, String((error as Error).cause ?? error));
      });
      if (!response.ok) {
        // A server in trouble may be better at the next request; "there is none" stays so for a while.
        if (response.status < 500) absent.set(uri, now);
        await response.body?.cancel();
        throw new FetchError(uri, `it answers ${response.status}`);
      }
      const bytes = await readBoundedBody(
        response.body,
        LARGEST_BYTES,
        () => new FetchError(uri, `it sends more than ${LARGEST_BYTES / 1024} KiB`),
      );
      return new Uint8Array(bytes).buffer;
    },
  };
}
