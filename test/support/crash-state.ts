/** The state with which failures of processes are tested. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { openInstance } from "../../src/app/instance.ts";
import { readEnvironment } from "../../src/config/environment.ts";
import { systemClock } from "../../src/core/clock.ts";
import { nextTime } from "../../src/engine/definition/schedule-times.ts";
import { crashWorkflows, SCHEDULED_WORKFLOW } from "./crash-workflows.ts";
import { CRASH_ACTOR } from "./run-starter.ts";

/** Creates the workflows, the schedule and the configuration. @param url the address of the server that logs calls */
export async function createCrashWorkflows(
  stateDir: string,
  env: Record<string, string>,
  { url, host }: { url: string; host: string },
): Promise<void> {
  const { database } = readEnvironment({ MILLRACE_STATE_DIR: stateDir, ...env });
  const instance = await openInstance({ stateDir, database }, systemClock, pino({ level: "silent" }));
  const intent = { operation: "create_workflow", actor: CRASH_ACTOR, requestId: "req_0" };
  for (const { name, definition } of crashWorkflows(url)) {
    await instance.write(intent, async (tx) => {
      const content = { name, description: "", tags: [], definition };
      await tx.workflows.insert(content, { kind: "created", reason: null, actor: CRASH_ACTOR });
      if (name !== SCHEDULED_WORKFLOW) return;
      const { schedule } = definition as { schedule: { cron: string; timezone: string; overlap: "skip" } };
      await tx.schedules.save({
        ...schedule,
        workflowId: name,
        version: 1,
        paused: false,
        nextAt: nextTime(schedule, Date.now()),
        lastAt: null,
        skipped: null,
        actor: CRASH_ACTOR.principal,
      });
    });
  }
  await instance.close();
  writeFileSync(
    join(stateDir, "config.yaml"),
    `http:\n  allowed_hosts: ["${host}"]\nlimits:\n  min_schedule_interval: 1s\n`,
  );
}
