/** What a listener's executors have counted: asked for over the channel to them, and kept when they die. */
import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { SECOND } from "../core/clock.ts";
import type { MetricsSnapshot } from "../telemetry/metrics-snapshot.ts";

/** Who does not answer in time is shown as it was when it last did. */
const PATIENCE_MS = SECOND;

export interface ExecutorMetrics {
  /** Has this executor's numbers counted in from now on. */
  track(child: ChildProcess): void;
  /** The numbers of those that live, and of those that are gone. */
  collect(): Promise<MetricsSnapshot[]>;
}

/** Asks for numbers; resolves when they have come, or the executor has ended. */
const answered = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    const on = (message: unknown): void => {
      if (numbersOf(message) === undefined) return;
      child.off("message", on);
      resolve();
    };
    child.on("message", on);
    child.once("exit", () => resolve());
    // What has died says so by its end.
    child.send({ numbers: true }, () => {});
  });

/** @param settle adds the last numbers of one that is gone to those of the others before it */
export function executorMetrics(
  settle: (gone: MetricsSnapshot, last: MetricsSnapshot) => Promise<MetricsSnapshot>,
): ExecutorMetrics {
  const last = new Map<ChildProcess, MetricsSnapshot>();
  let gone: Promise<MetricsSnapshot> = Promise.resolve([]);

  return {
    track(child) {
      last.set(child, []);
      child.on("message", (message) => {
        const numbers = numbersOf(message);
        if (numbers !== undefined && last.has(child)) last.set(child, numbers);
      });
      const left = (): void => {
        const numbers = last.get(child);
        if (numbers === undefined) return;
        last.delete(child);
        gone = gone.then((before) => settle(before, numbers));
      };
      child.once("exit", left);
      child.on("error", () => {
        if (child.pid === undefined) left();
      });
    },
    async collect() {
      const asked = [...last.keys()].filter((child) => child.connected).map(answered);
      await Promise.race([Promise.all(asked), delay(PATIENCE_MS, undefined, { ref: false })]);
      return [await gone, ...last.values()];
    },
  };
}

const numbersOf = (message: unknown): MetricsSnapshot | undefined =>
  (message as { numbers?: MetricsSnapshot } | null)?.numbers;
