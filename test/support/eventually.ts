/** Waiting for a condition instead of a time. */
import { setTimeout as delay } from "node:timers/promises";
import { vi } from "vitest";
import { patiently } from "./patience.ts";

/** How long a condition may take, in milliseconds. Mutation tests wait less, because what they change often never happens. */
const LIMIT_MS = Number(process.env["EVENTUALLY_MS"] ?? patiently(30_000));

/**
 * Asks until there is an answer.
 * @param what is waited for, for the message
 * @throws Error after `limit` milliseconds
 */
export async function eventually<T>(
  ask: () => T | undefined | Promise<T | undefined>,
  what: string,
  limit = LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + limit;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${limit} ms in vain for ${what}`);
    await delay(5);
  }
}

/** Repeats a check until it passes. @throws the error of the last check after the limit */
export const untilPassing = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: LIMIT_MS, interval: 5 });

/**
 * Lets time pass in which something that must not happen would happen. A slow machine can't make a test fail by it: there the test only
 * proves less.
 */
export const quietTime = (ms: number): Promise<void> => delay(ms);
