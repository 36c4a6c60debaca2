/** Waiting for a condition instead of a time. */
import { setTimeout as delay } from "node:timers/promises";

/**
 * Asks until there is an answer.
 * @param what is waited for, for the message
 * @throws Error after `limit` milliseconds
 */
export async function eventually<T>(
  ask: () => T | undefined | Promise<T | undefined>,
  what: string,
  limit = 15_000,
): Promise<T> {
  const deadline = performance.now() + limit;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${limit} ms in vain for ${what}`);
    await delay(5);
  }
}
