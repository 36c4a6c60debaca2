import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../src/core/clock.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { expectProblem } from "../support/rest.ts";

const steps = [{ id: "a", type: "set", values: { a: 1 } }];
const every = (cron: string) => ({ steps, schedule: { cron, timezone: "UTC" } });

/** An instance at 08:00, with this shortest interval of schedules. */
async function open(min?: string) {
  const clock = fakeClock();
  const instance = await testInstance({ clock });
  const { value: key } = await instance.key();
  const copy = async (interval?: string) => {
    const config = interval === undefined ? {} : { limits: { min_schedule_interval: interval } };
    const { url } = await instance.rest({ config });
    return { call: apiClient(url, key), executor: await instance.executor({ config }) };
  };
  return { clock, copy, ...(await copy(min)) };
}

describe("the shortest interval of schedules", () => {
  it("is one minute unless set: a schedule of every second is an issue, with the right expression", async () => {
    const { call } = await open();
    const { body } = await call("POST", "/workflows/validate", { definition: every("*/10 * * * * *") });
    expect(body.errors).toEqual([
      expect.objectContaining({
        path: "schedule.cron",
        code: "schedule_too_frequent",
        message:
          "runs at 00:00:00 and at 00:00:10, 10 s later; at least 1m must be between two runs (limits.min_schedule_interval)",
        fix: "Write * * * * *.",
        patch: [{ op: "replace", path: "/schedule/cron", value: "* * * * *" }],
      }),
    ]);
    const fixed = await call("POST", "/workflows/validate", {
      definition: every("*/10 * * * * *"),
      apply_fixes: true,
    });
    expect(fixed.body).toMatchObject({ valid: true });
  });

  it("refuses to publish a version that runs more often", async () => {
    const { call } = await open("15m");
    expect((await call("GET", "/environment")).body.limits.schedule_interval_seconds).toBe(900);
    const { body } = await call("POST", "/workflows", { name: "Often", definition: every("*/5 * * * *") });
    expect(body.issues).toMatchObject([
      {
        code: "schedule_too_frequent",
        fix: "Choose times that are at least 15m apart, or ask the operator for a shorter interval.",
      },
    ]);
    const refused = await call("POST", `/workflows/${body.id}/publish`, {});
    expect(expectProblem(refused, "workflow_not_runnable").errors).toMatchObject([
      { path: "schedule.cron", code: "schedule_too_frequent" },
    ]);
    // The schedule does not matter for a run that a caller starts, nor for one of a caller.
    expect((await call("POST", `/workflows/${body.id}/runs`, { wait: 0 })).status).toBe(202);
    const calls = { steps: [{ id: "often", type: "workflow", workflow: body.id }] };
    expect((await call("POST", "/workflows", { name: "Calls", definition: calls })).body.issues).toEqual([]);
  });

  it("slows down what was published before, with a warning, and does not stop it", async () => {
    const { clock, copy, call, executor: former } = await open("1s");
    const { body } = await call("POST", "/workflows", { name: "Often", definition: every("*/10 * * * * *") });
    expect((await call("POST", `/workflows/${body.id}/publish`, {})).status).toBe(200);
    expect((await call("GET", `/workflows/${body.id}/schedule`)).body).not.toHaveProperty("warning");
    await former.stop(0);
    const upgraded = await copy("1m");
    for (let seconds = 0; seconds < 150; seconds += 5) {
      clock.advance(5 * SECOND);
      // Its own timer may start the run first.
      await upgraded.executor.startDueRuns();
      upgraded.executor.queue.wake();
      await upgraded.executor.queue.waitUntilIdle();
    }
    const { body: started } = await upgraded.call("GET", `/runs?workflow_id=${body.id}`);
    expect((started as { created_at: string }[]).map((run) => run.created_at).toReversed()).toEqual([
      "2026-11-21T08:00:10.000Z",
      "2026-11-21T08:01:10.000Z",
      "2026-11-21T08:02:10.000Z",
    ]);
    const { body: schedule } = await upgraded.call("GET", `/workflows/${body.id}/schedule`);
    expect(schedule).toMatchObject({
      last_at: "2026-11-21T08:02:10.000Z",
      skipped: null,
      warning: expect.stringContaining("limits.min_schedule_interval (1m)"),
    });
    expect(schedule.next_runs.slice(0, 2)).toEqual(["2026-11-21T08:03:10.000Z", "2026-11-21T08:04:10.000Z"]);
    const { body: runs } = await upgraded.call("GET", `/workflows/${body.id}/runs`);
    expect(runs.map(({ status }: { status: string }) => status)).toEqual(Array(3).fill("succeeded"));
  });

  it("makes up for missed times with one run, and counts those that it would have started", async () => {
    const { clock, copy, call } = await open("1s");
    const { body } = await call("POST", "/workflows", { name: "Often", definition: every("*/10 * * * * *") });
    await call("POST", `/workflows/${body.id}/publish`, {});
    const { executor } = await copy("1m");
    clock.advance(5 * MINUTE);
    expect(await executor.startDueRuns()).toBe(1);
    expect((await call("GET", `/workflows/${body.id}/schedule`)).body).toMatchObject({
      last_at: "2026-11-21T08:04:10.000Z",
      skipped: { reason: "missed", count: 4 },
    });
  });
});
