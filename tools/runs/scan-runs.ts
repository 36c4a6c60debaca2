/** Reads many runs in parts, within limits, while others get their turns. */
import type { ListPosition, RunFilter } from "../../src/core/model.ts";
import { nextTurn } from "../../src/core/next-turn.ts";
import type { RunReader, ScannedRun, ScannedValue } from "../../src/core/run-ports.ts";
import { MAX_VALUE_CHARS } from "./evaluate-run.ts";

/** Maximum length of all recorded values that a request reads, in characters of JSON. */
const MAX_CHARS_TOGETHER = 33_554_432;
/** Maximum work of all expressions of a request, in units of 10 ns: 1 s. */
const MAX_WORK_TOGETHER = 100_000_000;

/** What a request has read. */
export interface ReadBudget {
  /** Maximum number of runs. */
  readonly max: number;
  read: number;
  /** Characters of JSON. */
  chars: number;
  /** Work of expressions, in units of 10 ns. */
  work: number;
}

export const newBudget = (max: number): ReadBudget => ({ max, read: 0, chars: 0, work: 0 });

/** Adds a run to what was read. */
export function addRead(budget: ReadBudget, { values }: ScannedRun): void {
  budget.read += 1;
  budget.chars += values.reduce((sum, value) => sum + (value?.text.length ?? 0), 0);
}

/** Whether a request reads no more. */
export const isUsedUp = ({ max, read, chars, work }: ReadBudget): boolean =>
  read >= max || chars >= MAX_CHARS_TOGETHER || work >= MAX_WORK_TOGETHER;

export interface ScanContext {
  runs: Pick<RunReader, "scan">;
  /** Aborted when the client no longer waits: then the parts end. */
  signal: AbortSignal;
}

/**
 * Reads the runs of a filter, newest first.
 * @param query.after where to begin; null at the newest one
 * @param query.part number of runs that are read at a time: a few milliseconds of work
 * @returns the parts, each with the position after it; null after the last run
 */
export async function* scanInParts(
  { runs, signal }: ScanContext,
  {
    part,
    after,
    ...query
  }: { filter: RunFilter; after: ListPosition | null; values: readonly ScannedValue[]; part: number },
): AsyncGenerator<Awaited<ReturnType<RunReader["scan"]>>> {
  let position = after;
  do {
    await nextTurn();
    if (signal.aborted) return;
    const page = await runs.scan({ ...query, after: position, limit: part, maxChars: MAX_VALUE_CHARS });
    yield page;
    position = page.next;
  } while (position !== null);
}
