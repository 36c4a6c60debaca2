import type { RunReader } from "../../src/core/run-ports.ts";

/** When the earliest of a run's waits ends, in ISO 8601; undefined when none has an end time. */
export async function earliestWaitEnd(
  runs: Pick<RunReader, "steps">,
  id: string,
): Promise<string | undefined> {
  const steps = await runs.steps(id);
  const times = steps.flatMap(({ state, waitUntil }) =>
    state === "waiting" && waitUntil !== null ? [waitUntil] : [],
  );
  return times.toSorted()[0];
}
