import type { z } from "zod";
import type { LastRun } from "../../schemas/run.ts";
import type { RunRecord } from "../../src/core/model.ts";

/** A workflow's newest run as part of the workflow; null when it never ran. */
export const lastRunOf = (run: RunRecord | undefined): z.infer<typeof LastRun> | null =>
  run === undefined
    ? null
    : {
        id: run.id,
        status: run.status,
        trigger: run.trigger,
        created_at: run.createdAt,
        started_at: run.startedAt,
        finished_at: run.finishedAt,
      };
