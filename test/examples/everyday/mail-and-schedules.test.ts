import { describe, expect, it } from "vitest";
import { MINUTE } from "../../../src/core/clock.ts";
import type { ScheduleState } from "../../../schemas/schedule-state.ts";
import { getSchedule } from "../../../tools/schedules/get-schedule.ts";
import { type ExampleEnvironment, exampleEnvironment } from "../../support/example-environment.ts";

/** The text of a mail without its line breaks, which depend on the length of lines. */
const unfolded = (mail: string): string => mail.replaceAll(/=\r\n/g, "").replaceAll("\r\n", "\n");

/** Lets the next scheduled run of a workflow start and end. @returns the run */
async function nextScheduledRun({ call, clock, executor, ended, services }: ExampleEnvironment, id: string) {
  const { next_runs: next } = await call<ScheduleState>(getSchedule, { workflow_id: id });
  clock.advance(Date.parse(next[0]!) - clock.now());
  expect(await executor.startDueRuns()).toBe(1);
  const { items } = await services.read.runs.page({ filter: { workflowId: id }, after: null, limit: 1 });
  return ended(items[0]!.id);
}

describe("everyday work with mail and schedules", () => {
  it("mails a daily report", async () => {
    const environment = await exampleEnvironment();
    const id = await environment.publish("daily-report-by-mail");
    const { status, output } = await environment.run(id);
    expect({ status, output }).toMatchObject({ status: "succeeded", output: { regions: 3 } });
    expect(unfolded(environment.mails[0]!)).toMatch(
      /Subject: Revenue of 2026-06-26\n[^]*\n\n- \w+: [\d.]+ \(\d+ orders\)\n- \w+: /,
    );
    // It is Saturday: the next report is that of Monday, for Sunday.
    const scheduled = await nextScheduledRun(environment, id);
    expect(scheduled).toMatchObject({ status: "succeeded", scheduled_for: "2026-11-23T06:00:00.000Z" });
    expect(unfolded(environment.mails[1]!)).toMatch(
      /Subject: Revenue of 2026-11-22\n[^]*There were no paid orders\./,
    );
  });

  it("runs on the last working day of each month", async () => {
    const environment = await exampleEnvironment();
    const id = await environment.publish("last-working-day");
    const { next_runs: next } = await environment.call<ScheduleState>(getSchedule, { workflow_id: id });
    // 31 January 2027 is a Sunday, 28 February another one.
    expect(next.map((time) => time.slice(0, 16))).toEqual([
      "2026-11-30T16:00",
      "2026-12-31T16:00",
      "2027-01-29T16:00",
      "2027-02-26T16:00",
      "2027-03-31T15:00",
    ]);
    const run = await nextScheduledRun(environment, id);
    expect(run).toMatchObject({ status: "succeeded", output: { month: "2026-11", open: 0 } });
    expect(environment.mails).toHaveLength(1);
    environment.clock.advance(MINUTE);
    expect(await environment.executor.startDueRuns()).toBe(0);
  });

  it("mails a file", async () => {
    const environment = await exampleEnvironment();
    const { output } = await environment.run(await environment.publish("mail-with-attachment"));
    expect(output).toMatchObject({ customers: 10 });
    const mail = environment.mails[0]!;
    expect(mail).toContain("Content-Type: text/csv; charset=utf-8; name=best-customers-north.csv");
    const [, encoded] = /base64\r\nContent-Disposition: attachment[^]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(
      mail,
    )!;
    const lines = Buffer.from(encoded!, "base64").toString().trim().split("\n");
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe("name,total");
    for (const line of lines.slice(1)) expect(line).toMatch(/^"[^"]+",\d+(\.\d+)?$/);
  });
});
