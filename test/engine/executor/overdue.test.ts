import { describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../../src/core/clock.ts";
import { pauseSchedule } from "../../../tools/schedules/pause-schedule.ts";
import { resumeSchedule } from "../../../tools/schedules/resume-schedule.ts";
import { archiveWorkflow } from "../../../tools/workflows/archive-workflow.ts";
import { getOverdueWorkflows } from "../../../tools/workflows/get-overdue-workflows.ts";
import { publishWorkflow } from "../../../tools/workflows/publish-workflow.ts";
import { unpublishWorkflow } from "../../../tools/workflows/unpublish-workflow.ts";
import { eventReceiver, subscriptionHarness, SUCCEEDS } from "../../support/subscriptions.ts";

const NIGHTLY = { ...SUCCEEDS, must_succeed: { every: "24h" } };

async function open(definition: Record<string, unknown> = NIGHTLY) {
  const receiver = await eventReceiver();
  const harness = await subscriptionHarness({ hosts: [receiver.host] });
  const { secret } = await harness.subscribe({ url: receiver.url, events: ["workflow.overdue"] });
  const id = await harness.publish("Nightly sync", definition);
  const raise = () => harness.executor.raiseOverdue();
  const overdue = async () =>
    (await harness.call(getOverdueWorkflows)).items.map(({ workflow_id }) => workflow_id);
  const events = async () => {
    await harness.settle();
    return receiver.verified(secret!);
  };
  return { ...harness, id, raise, overdue, events };
}

describe("a workflow that must succeed within a time", () => {
  it("raises one alert for each lapse, and recovers with the next success", async () => {
    const { clock, id, raise, overdue, events, run } = await open();
    clock.advance(DAY - 1);
    expect(await raise()).toBe(0);
    clock.advance(1);
    expect([await raise(), await raise()]).toEqual([1, 0]);
    expect(await overdue()).toEqual([id]);
    expect(await events()).toMatchObject([
      { type: "workflow.overdue", data: { workflow: { id }, every: "24h", succeeded_at: null } },
    ]);
    clock.advance(3 * DAY);
    expect(await raise()).toBe(0);
    await run(id);
    expect(await overdue()).toEqual([]);
    clock.advance(DAY);
    expect(await raise()).toBe(1);
    expect(await events()).toHaveLength(2);
  });

  it("raises the alert once, however many executors look at the same time", async () => {
    const { instance, clock, raise, events } = await open();
    const others = await Promise.all([instance.executor(), instance.executor()]);
    clock.advance(2 * DAY);
    const raised = await Promise.all([raise(), ...others.map((other) => other.raiseOverdue())]);
    expect(raised.toSorted()).toEqual([0, 0, 1]);
    expect(await events()).toHaveLength(1);
  });

  it("is not overdue while it is unpublished or archived, and begins again when it is published", async () => {
    const { clock, call, id, raise, overdue } = await open();
    await call(unpublishWorkflow, { workflow_id: id });
    clock.advance(2 * DAY);
    expect(await raise()).toBe(0);
    await call(publishWorkflow, { workflow_id: id });
    clock.advance(23 * HOUR);
    expect(await raise()).toBe(0);
    clock.advance(HOUR);
    expect(await raise()).toBe(1);
    await call(archiveWorkflow, { workflow_id: id });
    expect(await overdue()).toEqual([]);
  });

  it("is not overdue while its schedule is paused; the pause does not count", async () => {
    const { clock, call, id, raise } = await open({ ...NIGHTLY, schedule: { cron: "0 3 1 1 *" } });
    await call(pauseSchedule, { workflow_id: id });
    clock.advance(5 * DAY);
    expect(await raise()).toBe(0);
    await call(resumeSchedule, { workflow_id: id });
    clock.advance(23 * HOUR);
    expect(await raise()).toBe(0);
    clock.advance(HOUR);
    expect(await raise()).toBe(1);
  });
});
