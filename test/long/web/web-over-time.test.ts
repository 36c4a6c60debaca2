/** Backfills and the history of the state, in a browser. */
import { describe, expect, it } from "vitest";
import {
  createFirstAdmin,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
} from "../../support/web.ts";

const DEFINITION = {
  inputs: { type: "object", properties: { day: { type: "string" } } },
  state: { last_day: { type: "string", default: "none" } },
  steps: [{ id: "kept", type: "set", values: { day: "${{ inputs.day }}" } }],
  commit: { last_day: "${{ inputs.day }}" },
  schedule: { cron: "0 3 * * *", timezone: "Europe/Berlin", inputs: { day: "${{ run.scheduled_for }}" } },
};

describe("the page of a workflow with a schedule and a state", () => {
  it("previews and starts a backfill, shows what changed the state, and resets it with a reason", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    await requestApi(ann, "POST", "/workflows", { name: "Nightly", definition: DEFINITION });
    await requestApi(ann, "POST", "/workflows/nightly/publish", {});
    const { page } = await openWindow(await openBrowser(), site, ann);
    await page.goto(`${site.url}/ui/workflows/nightly`);
    await page.getByRole("button", { name: "Run for past times" }).click();
    const dialog = page.getByRole("dialog", { name: "Run for past times" });
    await dialog.getByLabel(/^From/).fill("2026-03-28");
    await dialog.getByLabel("To, included").fill("2026-03-30");
    await dialog.getByRole("button", { name: "Show the times" }).click();
    await dialog.getByText("2026-03-29 03:00:00+02:00").waitFor();
    await dialog.getByRole("button", { name: "Start 3 runs" }).click();
    await dialog.waitFor({ state: "hidden" });
    const backfills = page.getByRole("region", { name: "Backfills" });
    await backfills.getByText("finished", { exact: true }).waitFor({ timeout: 60_000 });
    await backfills.getByText(/3 of 3 runs started/).waitFor();

    await page.reload();
    const state = page.getByRole("region", { name: "State" });
    await state.getByRole("button", { name: "Show history" }).click();
    const changes = state.getByRole("list", { name: "Changes of the state" });
    await changes
      .getByText(/2026-03-30T01:00:00/)
      .first()
      .waitFor();
    expect(await changes.getByRole("listitem").count()).toBe(3);
    await state.getByRole("button", { name: "Reset" }).click();
    const reset = page.getByRole("dialog", { name: "Reset state" });
    await reset.getByLabel(/^Reason/).fill("From the start");
    await reset.getByRole("button", { name: "Reset" }).click();
    await reset.waitFor({ state: "hidden" });
    await changes.getByText("From the start").waitFor();
  });
});

describe("the editor of a workflow with a schedule", () => {
  it("says which days match while typing, shows the next times in its zone, and again before publishing", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    const { steps } = DEFINITION;
    const schedule = { cron: "0 8 13 * FRI", timezone: "America/New_York" };
    await requestApi(ann, "POST", "/workflows", {
      name: "Fridays",
      definition: { inputs: DEFINITION.inputs, steps, schedule },
    });
    const { page } = await openWindow(await openBrowser(), site, ann);
    await page.goto(`${site.url}/ui/workflows/fridays/edit`);
    const starts = page.getByRole("list", { name: "Starts" });
    await starts.getByText(/At 08:00, on day 13 of the month, or on Friday \(America\/New_York\)/).waitFor();
    await starts.getByText(/Next: .*, 08:00 \(UTC-0[45]:00\)/).waitFor();
    expect((await starts.innerText()).match(/\(UTC-0[45]:00\)/g)).toHaveLength(5);
    await page.getByText(/runs on days that match either the day of the month \(13\)/).waitFor();
    await takeScreenshot(page, "editor-schedule-either");

    const editor = page.getByRole("textbox", { name: "Definition of Fridays" });
    await editor.click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText(
      `steps:\n  - { id: a, type: set, values: { a: 1 } }\nschedule: { cron: "0 8 * * FRI#L", timezone: Asia/Kolkata }\n`,
    );
    await starts.getByText(/At 08:00, on the last Friday of the month \(Asia\/Kolkata\)/).waitFor();
    await starts.getByText(/Next: Fri, .*, 08:00 \(UTC\+05:30\)/).waitFor();
    await page.getByRole("button", { name: "Publish" }).click();
    const dialog = page.getByRole("dialog", { name: /^Publish version 2/ });
    await dialog.getByText(/At 08:00, on the last Friday of the month/).waitFor();
    await dialog.getByText(/Next: (Fri, [^;]*, 08:00 \(UTC\+05:30\)(; )?){5}/).waitFor();
    await takeScreenshot(page, "publish-schedule");
  });
});
