import type { RunRecord } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";

/** Yields the runs that wait for a run: its parent, the parent's parent and so on. */
export async function* ancestorsOf(
  tx: Pick<EngineWriters, "runs">,
  { parent }: Pick<RunRecord, "parent">,
): AsyncGenerator<RunRecord> {
  for (let ref = parent; ref !== null;) {
    const run = await tx.runs.find(ref.runId);
    if (run === undefined) return;
    yield run;
    ref = run.parent;
  }
}
