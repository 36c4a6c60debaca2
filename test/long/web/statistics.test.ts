/** The statistics of runs in a browser: on the home page, on the page of a workflow, and on a page of their own. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { Run } from "../../../schemas/run.ts";
import { violations } from "../../support/axe.ts";
import { untilPassing } from "../../support/eventually.ts";
import { testInstance } from "../../support/instance.ts";
import { insertRunsOfDays } from "../../support/runs-of-days.ts";
import {
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  selectOption,
  takeScreenshot,
  waitUntilLoaded,
} from "../../support/web.ts";

/** It fails for amounts below zero. */
const REVENUE = {
  inputs: { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] },
  steps: [
    { id: "check", type: "assert", that: "inputs.amount >= 0", message: "The amount is negative." },
    { id: "sum", type: "set", values: { total: "${{ inputs.amount * 2 }}" } },
  ],
  output: { total: "${{ steps.sum.total }}", region: '${{ inputs.amount > 100 ? "north" : "south" }}' },
};

/**
 * Runs of 14 days: of Weekly revenue 3 a day with 2 failed ones, of Stock levels one on each third day, and one single step; besides
 * a trial and a run before these days.
 */
async function openShop() {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  for (const name of ["Weekly revenue", "Stock levels"]) {
    const { id } = await requestApi(ann, "POST", "/workflows", { name, definition: REVENUE });
    await requestApi(ann, "POST", `/workflows/${id}/publish`, {});
  }
  const run = async (id: string, amount: number, more: object = {}) =>
    (await requestApi<Run>(ann, "POST", `/workflows/${id}/runs`, { inputs: { amount }, wait: 60, ...more }))
      .id;
  const succeeded = await run("weekly-revenue", 40);
  const large = await run("weekly-revenue", 700);
  const failed = await run("weekly-revenue", -1);
  const rare = await run("stock-levels", 5);
  await requestApi(ann, "POST", "/runs", { step: { type: "set", values: { a: 1 } }, wait: 60 });
  const days = Array.from({ length: 13 }, (_, index) => index + 1);
  await insertRunsOfDays(await testInstance({ stateDir: site.stateDir }), [
    ...days.map((daysAgo) => ({ run: succeeded, count: 2 + (daysAgo % 4), daysAgo })),
    ...days.map((daysAgo) => ({ run: large, count: 1, daysAgo })),
    { run: failed, count: 2, daysAgo: 5 },
    { run: failed, count: 1, daysAgo: 9 },
    ...[3, 6, 9, 12].map((daysAgo) => ({ run: rare, count: 1, daysAgo })),
    { run: succeeded, count: 5, daysAgo: 20 },
  ]);
  return { site, ann };
}

const overflow = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

async function expectAccessible(page: Page, name: string): Promise<void> {
  await takeScreenshot(page, name);
  // The menu of a window that has just become narrow is still moving.
  await untilPassing(async () =>
    expect({ name, overflow: await overflow(page) }).toEqual({ name, overflow: 0 }),
  );
  expect({ name, issues: await violations(page) }).toEqual({ name, issues: [] });
}

/** The days are those of UTC, as the inserted runs are. */
const WINDOWS = (["light", "dark"] as const).flatMap((colorScheme) =>
  [1440, 390].map((width) => ({ colorScheme, viewport: { width, height: 900 }, timezoneId: "UTC" })),
);
const nameOf = ({ colorScheme, viewport }: (typeof WINDOWS)[number]): string =>
  `${viewport.width}-${colorScheme}`;

it("home shows the runs of 14 days by workflow, failures first, and a workflow shows its own", async () => {
  const { site, ann } = await openShop();
  const browser = await openBrowser();
  for (const options of WINDOWS) {
    const { page, visit, problems } = await openWindow(browser, site, ann, options);
    await visit("/");
    const card = page.getByRole("region", { name: "Last 14 days" });
    const rows = card.getByRole("listitem");
    // 2 or 3 or 4 or 5 small ones and a large one on each of 13 days, 3 of today, and 3 failed ones.
    await rows.nth(0).getByText("64 runs").waitFor();
    expect(await rows.count()).toBe(3);
    expect(await rows.nth(0).getByRole("link").first().innerText()).toBe("Weekly revenue");
    expect(await rows.nth(1).innerText()).toContain("Stock levels");
    expect(await rows.nth(2).innerText()).toContain("Single steps");
    const image = rows.nth(0).getByRole("img");
    expect(await image.getAttribute("aria-label")).toMatch(
      /^Weekly revenue: 64 runs in 14 days, 4 failed; most on \d{4}-\d\d-\d\d: 6$/,
    );
    await waitUntilLoaded(page);
    await expectAccessible(page, `statistics-home-${nameOf(options)}`);
    await rows.nth(0).getByRole("link", { name: "4 failed: Weekly revenue" }).click();
    await heading(page, "Runs").waitFor();
    await page.getByText("4 of 4").waitFor();

    await visit("/workflows/weekly-revenue");
    const line = page.getByRole("region", { name: "Last 14 days" });
    await line.getByText(/^64 runs in 14 days, 93\.7 % succeeded · median \d+ ms$/).waitFor();
    await expectAccessible(page, `statistics-workflow-${nameOf(options)}`);
    expect(problems).toEqual([]);
    await page.context().close();
  }
});

it("the page of statistics shows groups as a chart and a table, and its address shows the same again", async () => {
  const { site, ann } = await openShop();
  const browser = await openBrowser();
  for (const options of WINDOWS) {
    const { page, visit, problems } = await openWindow(browser, site, ann, options);
    await visit("/runs?workflow=weekly-revenue");
    await page.getByRole("link", { name: "Statistics" }).click();
    await heading(page, "Run statistics").waitFor();
    await page.getByText("64 runs in 14 groups").waitFor();
    await page.getByRole("img", { name: /^Bar chart of succeeded, failed by Day, 14 rows\./ }).waitFor();
    await waitUntilLoaded(page);
    await expectAccessible(page, `statistics-days-${nameOf(options)}`);

    const groupBy = page.getByRole("combobox", { name: "Group by" });
    await groupBy.focus();
    await page.keyboard.press("Backspace");
    await page.getByText("64 runs in 1 group", { exact: true }).waitFor();
    await page.keyboard.type("version");
    await page.keyboard.press("Enter");
    await page.keyboard.type("output.region");
    await page.keyboard.press("Enter");
    await page.getByText("64 runs in 3 groups").waitFor();
    const condition = page.getByLabel("Condition");
    await condition.fill("output.total >= 1000");
    await page.keyboard.press("Enter");
    await page.getByText("14 runs in 1 group", { exact: true }).waitFor();
    expect(await condition.evaluate((one) => one.matches(":focus"))).toBe(true);
    const notice = page.getByRole("status").filter({ hasText: "Not all runs are counted" });
    await notice.getByText(/^output\.total >= 1000 has no value in 4 runs, left out, such as run_/).waitFor();
    await page.getByRole("combobox", { name: "Numbers" }).fill("output.total");
    await page.keyboard.press("Tab");
    await page.getByRole("columnheader", { name: "output.total sum" }).waitFor();
    await selectOption(page, page.getByRole("combobox", { name: "Chart" }), "output.total: sum");
    await page
      .getByRole("img", { name: /^Bar chart of north by Version, 1 rows\. north: from 19600 / })
      .waitFor();
    await waitUntilLoaded(page);
    await expectAccessible(page, `statistics-numbers-${nameOf(options)}`);

    const address = page.url();
    await page.goto(address);
    await page.getByRole("cell", { name: "19600" }).waitFor();
    expect(await page.getByLabel("Condition").inputValue()).toBe("output.total >= 1000");
    expect(await page.getByRole("combobox", { name: "Chart" }).inputValue()).toBe("output.total: sum");
    await page.getByRole("row").nth(1).getByRole("link").first().click();
    await heading(page, "Weekly revenue").waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  }
});

it("the page of statistics shows issues at their fields, and downloads what it shows", async () => {
  const { site, ann } = await openShop();
  const { page, visit, problems } = await openWindow(await openBrowser(), site, ann);
  await visit("/runs/statistics?group=dya&where=output.total+%3E&number=nope.x");
  await page.getByText("dya: must be a field of runs or an expression, got dya. Write day.").waitFor();
  await page.getByText(/^Has a syntax error: unexpected the end of the expression/).waitFor();
  await page.getByText(/^nope\.x: uses nope, which is not defined here/).waitFor();
  expect(await page.locator('[aria-invalid="true"]').count()).toBe(3);
  await page.getByText("Nothing was counted").waitFor();
  await expectAccessible(page, "statistics-issues");
  expect(problems.splice(0)).toEqual([expect.stringContaining("a status of 400")]);

  await visit("/runs/statistics?group=workflow_id&group=status&where=run.version+%3D+1");
  await page.getByText("Read as run.version == 1").waitFor();
  await page.getByText(/^\d+ runs in 3 groups$/).waitFor();
  await page.getByRole("img", { name: /^Bar chart of succeeded, failed by Workflow, 2 rows\./ }).waitFor();
  await waitUntilLoaded(page);
  await expectAccessible(page, "statistics-workflows");
  await page.getByRole("button", { name: "Download" }).click();
  const saved = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "CSV" }).click();
  const [head, ...lines] = readFileSync(await (await saved).path(), "utf8")
    .trimEnd()
    .split("\r\n");
  expect(head).toBe(
    "\uFEFFworkflow_id,status,runs,succeeded,failed,median_ms,p95_ms,first,last,first_run,last_run",
  );
  expect(lines.map((line) => line.split(",").slice(0, 5).join(","))).toEqual([
    "stock-levels,succeeded,5,5,0",
    "weekly-revenue,failed,4,0,4",
    "weekly-revenue,succeeded,65,65,0",
  ]);

  await visit("/runs/statistics?group=output.region&number=output.none");
  const lacking = page.getByRole("status").filter({ hasText: "Some runs lack a value" });
  await lacking.getByText(/^output\.region has no value in 5 runs, such as run_/).waitFor();
  await page.getByRole("row").nth(1).getByText("none").first().waitFor();

  await visit("/runs/statistics?status=cancelled");
  await page.getByText("No matching runs").waitFor();
  await expectAccessible(page, "statistics-empty");
  await page.getByRole("button", { name: "Clear filters" }).first().click();
  await page.getByText(/^\d+ runs in \d+ groups$/).waitFor();
  await page.getByRole("link", { name: "List of runs" }).click();
  await heading(page, "Runs").waitFor();
  expect(problems).toEqual([]);
});
