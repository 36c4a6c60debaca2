/** Generated from src/web/messages/en/timeline.json by `npm run generate`. Edit that file instead. */
import { pluralForm } from "../../format.ts";

export const item = ({ item, event }: { item: string | number; event: string | number }): string =>
  `Item ${item}: ${event}`;
export const event = ({ event, when }: { event: string | number; when: string | number }): string =>
  `${event} (${when})`;
export const earlierEvents = ({ count }: { count: number }): string =>
  (pluralForm(count) === "one" ? `${count} earlier event` : `${count} earlier events`);
export const given = "given";
export const cached = "cached";
export const reusedFrom = ({ run }: { run: string | number }): string =>
  `reused from ${run}`;
export const notStarted = "not started";
export const items = ({ total, failed }: { total: number; failed: number }): string =>
  `${(pluralForm(total) === "one" ? `${total} item` : `${total} items`)}${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} failed` : `, ${failed} failed`)}`;
export const itemsOf = ({ done, total, failed }: { done: string | number; total: number; failed: number }): string =>
  `${done} of ${(pluralForm(total) === "one" ? `${total} item` : `${total} items`)}${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} failed` : `, ${failed} failed`)}`;
export const iterations = ({ total, failed }: { total: number; failed: number }): string =>
  `${(pluralForm(total) === "one" ? `${total} iteration` : `${total} iterations`)}${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} failed` : `, ${failed} failed`)}`;
export const iterationOf = ({ iteration, max, failed }: { iteration: string | number; max: string | number; failed: number }): string =>
  `iteration ${iteration} of at most ${max}${(failed === 0 ? "" : pluralForm(failed) === "one" ? `, ${failed} failed` : `, ${failed} failed`)}`;
export const soFar = ({ duration }: { duration: string | number }): string =>
  `${duration} so far`;
export const startedImmediately = "started immediately";
export const startedAfter = ({ offset }: { offset: string | number }): string =>
  `started after ${offset}`;
export const attempts = ({ attempts }: { attempts: string | number }): string =>
  `${attempts} attempts`;
export const immediately = "immediately";
export const after = ({ offset }: { offset: string | number }): string =>
  `after ${offset}`;
export const noStepsTitle = "No steps yet";
export const noSteps = "Steps appear here when the run starts.";
export const legendRunning = "Running";
export const legendWaiting = "Waiting (for a time, an approval, an event or another run)";
export const legendBackoff = "Waiting to retry";
export const legendMarks = "Decision, reminder or escalation";
export const legend = "Legend";
export const notStartedYet = "Not started";
export const startedImmediatelyAt = ({ time }: { time: string | number }): string =>
  `Started immediately, ${time}`;
export const startedAfterAt = ({ offset, time }: { offset: string | number; time: string | number }): string =>
  `Started after ${offset}, ${time}`;
export const elapsed = ({ duration }: { duration: string | number }): string =>
  `Elapsed: ${duration}`;
export const duration = ({ duration }: { duration: string | number }): string =>
  `Duration: ${duration}`;
export const waited = ({ duration }: { duration: string | number }): string =>
  `Waiting: ${duration}`;
export const backedOff = ({ duration }: { duration: string | number }): string =>
  `Waiting to retry: ${duration}`;
export const waitsUntil = ({ time }: { time: string | number }): string =>
  `Waits until ${time}`;
export const failed = ({ message }: { message: string | number }): string =>
  `Failed: ${message}`;
export const timeline = "Timeline of the steps";
