import type { RunReader } from "../../src/core/run-ports.ts";

/** When the first of a run's waits is over; undefined where none has a time. */
export async function earliestWaitEnd(
  runs: Pick<RunReader, "steps">,
  id: string,
): Promise<string | undefined> {
  const steps = await runs.steps(id);
  const moments = steps.flatMap(({ state, waitUntil }) =>
    state === "waiting" && waitUntil !== null ? [waitUntil] : [],
  );
  return moments.toSorted()[0];
}
