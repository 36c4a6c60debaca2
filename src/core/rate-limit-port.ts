/** The interface of the store for rate limits. */

/** Counts attempts within windows of time, for rate limits. Shared by all processes. */
export interface RateLimitCounter {
  /** The count of each key in its current window, and the end of that window (milliseconds since 1970). */
  read(keys: readonly string[], now: number): Promise<{ count: number; endsAt: number }[]>;
  /**
   * Counts one attempt for each key. A window begins with its first attempt.
   * Guarantee: atomic, all keys or none; none of concurrent attempts is lost.
   * @returns the new counts
   */
  increment(
    keys: readonly { key: string; windowMs: number }[],
    now: number,
  ): Promise<{ count: number; endsAt: number }[]>;
  /** Subtracts one attempt from each count, not below 0, if its window (identified by `endsAt`) is not over. Atomic. */
  refund(counted: readonly { key: string; endsAt: number }[]): Promise<void>;
  /** Sets the counts to 0, after a successful attempt. */
  clear(keys: readonly string[]): Promise<void>;
}
