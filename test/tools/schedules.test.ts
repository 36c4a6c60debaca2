import { describe, expect, it } from "vitest";
import { getSchedule } from "../../tools/schedules/get-schedule.ts";
import { listSchedules } from "../../tools/schedules/list-schedules.ts";
import { pauseSchedule } from "../../tools/schedules/pause-schedule.ts";
import { resumeSchedule } from "../../tools/schedules/resume-schedule.ts";
import { archiveWorkflow } from "../../tools/workflows/archive-workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { planWorkflow } from "../../tools/workflows/plan-workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { unpublishWorkflow } from "../../tools/workflows/unpublish-workflow.ts";
import { validateWorkflow } from "../../tools/workflows/validate-workflow.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { callAs, keyPrincipal } from "../support/users.ts";

const steps = [{ id: "a", type: "set", values: { a: 1 } }];

/** Workflows with these names, scheduled at these hours from 08:00. */
async function scheduled(hours: Record<string, string>) {
  const instance = await testInstance({ clock: fakeClock() });
  const call = callAs(instance, keyPrincipal());
  for (const [name, hour] of Object.entries(hours)) {
    await call(createWorkflow, { name, definition: { steps, schedule: { cron: `0 ${hour} * * *` } } });
    await call(publishWorkflow, { workflow_id: name });
  }
  const ids = async (input: Record<string, unknown> = {}) =>
    (await call(listSchedules, input)).items.map(({ workflow_id }) => workflow_id);
  return { call, ids };
}

describe("the next times of a schedule", () => {
  it("are the same when it is validated, planned and published, in its zone, and begin with the stored one", async () => {
    const instance = await testInstance({ clock: fakeClock() });
    const call = callAs(instance, keyPrincipal());
    const schedule = { cron: "0 8 13 * FRI", timezone: "America/New_York" };
    const definition = { steps, schedule };
    const validation = await call(validateWorkflow, { definition });
    expect(validation).toMatchObject({ valid: true, warnings: [{ code: "day_or_weekday" }] });
    const times = [
      "2026-11-27T08:00:00-05:00",
      "2026-12-04T08:00:00-05:00",
      "2026-12-11T08:00:00-05:00",
      "2026-12-13T08:00:00-05:00",
      "2026-12-18T08:00:00-05:00",
    ];
    expect(validation.next_runs).toEqual(times);
    await call(createWorkflow, { name: "Fridays", definition });
    const plan = await call(planWorkflow, { workflow_id: "fridays" });
    expect(plan.schedule).toEqual({ ...schedule, overlap: "skip", next_runs: times });
    expect(plan.words).toContain(
      `Once published it runs by itself: 0 8 13 * FRI (America/New_York). Next times: ${times.join(", ")}.`,
    );
    expect((await call(publishWorkflow, { workflow_id: "fridays" })).next_runs).toEqual(times);
    const stored = await instance.services.read.schedules.find("fridays");
    expect(stored?.nextAt).toBe(new Date(times[0]!).toISOString());
    await call(pauseSchedule, { workflow_id: "fridays" });
    expect((await call(publishWorkflow, { workflow_id: "fridays" })).next_runs).toEqual([]);
  });
});

describe("list_schedules", () => {
  it("lists schedules by their next time, with paused ones last", async () => {
    const { call, ids } = await scheduled({ noon: "12", early: "3", nine: "9", night: "23" });
    expect(await ids()).toEqual(["nine", "noon", "night", "early"]);
    expect((await call(listSchedules)).items[0]).toMatchObject({
      paused: false,
      next_runs: [
        "2026-11-21T09:00:00.000Z",
        "2026-11-22T09:00:00.000Z",
        "2026-11-23T09:00:00.000Z",
        "2026-11-24T09:00:00.000Z",
        "2026-11-25T09:00:00.000Z",
      ],
    });
    await call(pauseSchedule, { workflow_id: "nine" });
    expect(await ids()).toEqual(["noon", "night", "early", "nine"]);
    expect((await call(listSchedules)).items[3]).toMatchObject({ paused: true, next_runs: [] });
    await call(resumeSchedule, { workflow_id: "nine" });
    await call(archiveWorkflow, { workflow_id: "noon" });
    expect(await ids()).toEqual(["nine", "night", "early"]);
  });

  it("keeps a schedule paused while its workflow is not published", async () => {
    const { call, ids } = await scheduled({ noon: "12", nine: "9" });
    await call(pauseSchedule, { workflow_id: "noon" });
    for (const workflow_id of ["noon", "nine"]) {
      await call(unpublishWorkflow, { workflow_id });
      await expect(call(getSchedule, { workflow_id })).rejects.toMatchObject({ code: "schedule_not_found" });
    }
    expect(await call(listSchedules)).toMatchObject({ items: [], total: 0 });
    for (const workflow_id of ["noon", "nine"]) await call(publishWorkflow, { workflow_id });
    expect(await ids()).toEqual(["nine", "noon"]);
    expect(await call(getSchedule, { workflow_id: "noon" })).toMatchObject({ paused: true, next_runs: [] });
    await call(resumeSchedule, { workflow_id: "noon" });
    await call(unpublishWorkflow, { workflow_id: "noon" });
    await call(publishWorkflow, { workflow_id: "noon" });
    expect(await call(getSchedule, { workflow_id: "noon" })).toMatchObject({ paused: false });
  });

  it("lists each exactly once over pages, also paused ones and ties", async () => {
    const { call, ids } = await scheduled({ a: "9", b: "9", c: "9", d: "3", e: "9", f: "9" });
    for (const workflow_id of ["a", "b"]) await call(pauseSchedule, { workflow_id });
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await call(listSchedules, { limit: 1, ...(cursor && { cursor }) });
      expect(page.total).toBe(6);
      seen.push(...page.items.map(({ workflow_id }) => workflow_id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(["c", "e", "f", "d", "a", "b"]);
    expect(await ids({ limit: 6 })).toEqual(seen);
  });
});
