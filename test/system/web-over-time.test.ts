/** Backfills and the history of the state, in a browser. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { accessibilityIssues } from "../support/accessibility.ts";
import {
  createFirstAdmin,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
} from "../support/web.ts";

/** Without violations in light and dark, on a desk and on a phone. */
async function expectAccessible(page: Page, name: string): Promise<void> {
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await takeScreenshot(page, `${name}-${scheme}-${width}`);
      expect(await accessibilityIssues(page)).toEqual([]);
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

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
    await expectAccessible(page, "backfill-dialog");
    await dialog.getByRole("button", { name: "Start 3 runs" }).click();
    await dialog.waitFor({ state: "hidden" });
    const backfills = page.getByRole("region", { name: "Backfills" });
    await backfills.getByText("finished", { exact: true }).waitFor({ timeout: 60_000 });
    await backfills.getByText(/3 of 3 runs started/).waitFor();
    await backfills.getByText("Past runs: 28 Mar 2026 to 30 Mar 2026 (Europe/Berlin)").waitFor();
    const recent = page.getByRole("table", { name: "Recent runs" });
    await recent.getByText(/^for/).nth(2).waitFor();
    await page
      .getByRole("region", { name: "State" })
      .getByText(/2026-03-30T01:00:00/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "0 3 * * *, schedule, starts runs" }).click();
    await page.getByRole("heading", { name: "Starts" }).waitFor();
    await expectAccessible(page, "backfill-page");

    // What the runs have changed is shown without a reload.
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
    await expectAccessible(page, "reset-dialog");
    await reset.getByLabel(/^Reason/).fill("From the start");
    await reset.getByRole("button", { name: "Reset" }).click();
    await reset.waitFor({ state: "hidden" });
    await changes.getByText("From the start").waitFor();
    await requestApi(ann, "POST", "/workflows/nightly/runs", { inputs: { day: "by hand" } });
    await backfills.getByRole("link", { name: "Show runs" }).click();
    // Not "Recent runs", which the page before shows.
    const runs = page.getByRole("table", { name: "Runs", exact: true });
    await runs.getByText(/^for/).nth(2).waitFor();
    expect(await runs.getByRole("row").count()).toBe(4);
    await expectAccessible(page, "backfill-runs");
    await page.getByRole("button", { name: /^Backfill bf_.*remove the filter$/ }).click();
    await runs.getByRole("row").nth(4).waitFor();
  });
});
