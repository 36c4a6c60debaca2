/**
 * One factor for every deadline of the tests: by how much other programs slow this machine down. It is measured once, when a run of
 * vitest begins, and stretches deadlines only: no test passes or fails on it.
 */

/** How long the processor is kept busy for the measurement, in milliseconds of elapsed time. */
const MEASURED_MS = 200;
/** Beyond this factor a deadline would no longer end a test that hangs. */
const MAX_PATIENCE = 8;

/** Measures the factor. @returns an integer from 1 (a quiet machine) to `MAX_PATIENCE` */
export function measurePatience(): number {
  const started = performance.now();
  const used = process.cpuUsage();
  while (performance.now() - started < MEASURED_MS);
  const elapsed = performance.now() - started;
  const { user, system } = process.cpuUsage(used);
  // One thread was measured. The tests use two cores, so what others take away counts twice.
  const factor = Math.round((2 * elapsed * 1_000) / (user + system) - 1);
  return Math.min(MAX_PATIENCE, Math.max(1, factor));
}

/** The factor of this run, which the configuration of vitest passes on; 1 outside of it. */
const PATIENCE = Number(process.env["TEST_PATIENCE"] ?? 1);

/** Stretches a deadline. @param ms on a quiet machine, in milliseconds */
export const patiently = (ms: number): number => ms * PATIENCE;
