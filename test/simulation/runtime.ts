/**
 * Time and chance of a simulation: several processes of the product run in this one, by a virtual clock. Timers, the monotonic clock and
 * random numbers of Node are replaced, so each turn of the event loop is an event that a seed has put where it is. Nothing waits.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import { seededRandom } from "../support/random.ts";

/** A process of the product, as far as it is simulated: what it does after its end does not happen. */
export interface SimulatedProcess {
  name: string;
  alive: boolean;
  /** Until when it does nothing, in virtual milliseconds. */
  pausedUntil: number;
  /** By how much its wall clock is ahead, in milliseconds. */
  clockOffset: number;
}

interface Event {
  at: number;
  order: number;
  owner: SimulatedProcess | undefined;
  run: (() => void) | undefined;
  /** A turn of the event loop, for which modules wait that all processes share: it comes in any case. */
  isImmediate: boolean;
}

export interface Runtime {
  /** Virtual milliseconds since the start. */
  now(): number;
  /** The right wall clock, in milliseconds since 1970. */
  wallTime(): number;
  /** The process whose code is running. */
  current(): SimulatedProcess | undefined;
  /** Runs code as that of a process. */
  within<T>(process: SimulatedProcess, work: () => T): T;
  /** Calls back later, unless the process has ended. */
  after(ms: number, work: () => void, owner?: SimulatedProcess): void;
  /** Resolves later; never, if the running process ends before. */
  sleep(ms: number): Promise<void>;
  /** A source of random numbers from 0 to 1 for what happens to the product, for each purpose one. The product has one of its own. */
  randomFor(purpose: string): () => number;
  /** Handles events until `isDone`, or until there are none for long. @returns the number of events */
  advance(isDone: () => boolean): Promise<number>;
  /** Ends what still waits, and gives timers, clocks and random numbers back. */
  end(): Promise<void>;
}

/** When the simulated world begins, in milliseconds since 1970. */
const EPOCH = Date.parse("2026-11-21T08:30:00Z");
/** How many turns of the event loop files may take while there is nothing else to do. */
const MAX_IDLE_TURNS = 1_000_000;

/** The end of what a dead process was about to do. */
export const never = (): Promise<never> => new Promise(() => {});

const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = globalThis;
const realTimers = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate };
const real = {
  now: performance.now.bind(performance),
  dateNow: Date.now,
  random: Math.random,
  abortTimeout: AbortSignal.timeout,
  abortAny: AbortSignal.any,
  randomBytes: crypto.randomBytes,
  randomUUID: crypto.randomUUID,
  promises: { setTimeout: timersPromises.setTimeout, setImmediate: timersPromises.setImmediate },
};

const cancel = (event: Event): void => {
  event.run = undefined;
};

const cancelImmediate = (it: unknown): void => (it as { cancel?: () => void } | undefined)?.cancel?.();

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Lets everything happen that needs no timer; files are read in real time. */
async function settle(): Promise<void> {
  await turn();
  while (process.getActiveResourcesInfo().some((resource) => /^(?:FSReq|CloseReq)/.test(resource)))
    await turn();
}

export function simulatedRuntime(seed: number): Runtime {
  const randomFor = (purpose: string): (() => number) =>
    seededRandom(crypto.hash("sha256", `${seed} ${purpose}`, "buffer").readUInt32LE(0));
  const productRandom = randomFor("product");
  const context = new AsyncLocalStorage<SimulatedProcess>();
  const heap = eventHeap();
  let now = 0;
  let order = 0;

  function schedule(ms: number, run: () => void, owner = context.getStore(), isImmediate = false): Event {
    const event: Event = { at: now + Math.max(ms, 0), order: (order += 1), owner, run, isImmediate };
    heap.push(event);
    return event;
  }

  class Timer {
    #event: Event;
    readonly #ms: number;
    readonly #repeats: boolean;
    readonly #run: () => void;
    readonly #owner = context.getStore();
    constructor(run: () => void, ms: number, repeats: boolean) {
      this.#run = run;
      this.#ms = Number.isFinite(ms) ? Math.max(ms, 1) : 1;
      this.#repeats = repeats;
      this.#event = this.#next();
    }
    #next(): Event {
      return schedule(
        this.#ms,
        () => {
          if (this.#repeats) this.#event = this.#next();
          this.#run();
        },
        this.#owner,
      );
    }
    refresh(): this {
      cancel(this.#event);
      this.#event = this.#next();
      return this;
    }
    close(): this {
      cancel(this.#event);
      return this;
    }
    ref = (): this => this;
    unref = (): this => this;
    hasRef = (): boolean => true;
    [Symbol.dispose](): void {
      this.close();
    }
  }

  const timer =
    (repeats: boolean) =>
    (work: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      new Timer(() => work(...args), ms, repeats);
  const clear = (it: unknown): void => {
    if (it instanceof Timer) it.close();
  };
  const immediate = (work: (...args: unknown[]) => void, ...args: unknown[]) => {
    const event = schedule(0, () => work(...args), context.getStore(), true);
    const it = { ref: () => it, unref: () => it, hasRef: () => true, cancel: () => cancel(event) };
    return it;
  };

  const delay = (ms = 1, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError(signal));
      const onAbort = (): void => {
        cancel(event);
        reject(abortError(signal!));
      };
      const event = schedule(Math.max(ms, 1), () => {
        signal?.removeEventListener("abort", onAbort);
        resolve(value);
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });

  const replaced = {
    setTimeout: timer(false),
    setInterval: timer(true),
    clearTimeout: clear,
    clearInterval: clear,
  };
  Object.assign(globalThis, replaced, { setImmediate: immediate, clearImmediate: cancelImmediate });
  Object.assign(timers, replaced, { setImmediate: immediate, clearImmediate: cancelImmediate });
  Object.assign(timersPromises, {
    setTimeout: delay,
    setImmediate: (value?: unknown) =>
      new Promise((resolve) => void schedule(0, () => resolve(value), context.getStore(), true)),
  });
  const wallTime = (): number => EPOCH + now + (context.getStore()?.clockOffset ?? 0);
  performance.now = () => now;
  Date.now = () => Math.floor(wallTime());
  Math.random = productRandom;
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    schedule(ms, () =>
      controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")),
    );
    return controller.signal;
  };
  // Node keeps a combined signal with listeners, and so what a dead process has left behind, until it is aborted.
  const ended = new AbortController();
  AbortSignal.any = (signals) => real.abortAny.call(AbortSignal, [...signals, ended.signal]);
  const bytes = (size: number): Buffer => {
    const made = Buffer.alloc(size);
    for (let index = 0; index < size; index += 1) made[index] = Math.floor(productRandom() * 256);
    return made;
  };
  Object.assign(crypto, {
    // A pool of random bytes would outlive the simulation that asked for it, so a request for many gets few.
    randomBytes: (size: number) => bytes(size > MAX_BYTES && size % ID_BYTES === 0 ? ID_BYTES : size),
    randomUUID: () => {
      const hex = bytes(16).toString("hex");
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
    },
  });
  syncBuiltinESMExports();

  return {
    now: () => now,
    wallTime: () => EPOCH + now,
    current: () => context.getStore(),
    within: (process, work) => context.run(process, work),
    after: (ms, work, owner) => void schedule(ms, work, owner),
    async sleep(ms) {
      const owner = context.getStore();
      if (owner?.alive === false) await never();
      await new Promise<void>((resolve) => void schedule(ms, resolve, owner));
    },
    randomFor,
    async advance(isDone) {
      let handled = 0;
      let idle = 0;
      while (!isDone()) {
        const event = heap.pop();
        if (event === undefined) {
          // Files are read in real time.
          idle += 1;
          if (idle > MAX_IDLE_TURNS) break;
          await settle();
          continue;
        }
        idle = 0;
        const { run, owner } = event;
        if (run === undefined || (owner?.alive === false && !event.isImmediate)) continue;
        if (owner !== undefined && owner.pausedUntil > event.at && !event.isImmediate) {
          event.at = owner.pausedUntil;
          event.order = order += 1;
          heap.push(event);
          continue;
        }
        now = Math.max(now, event.at);
        handled += 1;
        if (owner === undefined) context.exit(run);
        else context.run(owner, run);
        await settle();
      }
      return handled;
    },
    async end() {
      ended.abort();
      await settle();
      // Modules that all simulations share wait for turns of the event loop, which begin others.
      for (let event = heap.pop(); event !== undefined; event = heap.pop()) {
        if (!event.isImmediate) continue;
        event.run?.();
        await settle();
      }
      Object.assign(globalThis, realTimers);
      Object.assign(timers, realTimers);
      Object.assign(timersPromises, real.promises);
      performance.now = real.now;
      Date.now = real.dateNow;
      Math.random = real.random;
      AbortSignal.timeout = real.abortTimeout;
      AbortSignal.any = real.abortAny;
      Object.assign(crypto, { randomBytes: real.randomBytes, randomUUID: real.randomUUID });
      syncBuiltinESMExports();
    },
  };
}

/** Ids take this many random bytes, and ask for those of many ids at once. */
const ID_BYTES = 9;
const MAX_BYTES = 64;

const abortError = (signal: AbortSignal): Error =>
  Object.assign(new Error("The operation was aborted", { cause: signal.reason }), {
    name: "AbortError",
    code: "ABORT_ERR",
  });

/** Events by time, and by their order at the same time. */
function eventHeap() {
  const events: Event[] = [];
  const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
  return {
    push(event: Event): void {
      let index = events.push(event) - 1;
      while (index > 0) {
        const parent = (index - 1) >> 1;
        if (!isBefore(event, events[parent]!)) break;
        events[index] = events[parent]!;
        index = parent;
      }
      events[index] = event;
    },
    pop(): Event | undefined {
      const first = events[0];
      const last = events.pop();
      if (last === undefined || events.length === 0) return first;
      let index = 0;
      for (;;) {
        let child = index * 2 + 1;
        if (child >= events.length) break;
        if (child + 1 < events.length && isBefore(events[child + 1]!, events[child]!)) child += 1;
        if (!isBefore(events[child]!, last)) break;
        events[index] = events[child]!;
        index = child;
      }
      events[index] = last;
      return first;
    },
  };
}
