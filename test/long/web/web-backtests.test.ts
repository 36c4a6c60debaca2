/** Backtests in a browser: the figures, the effects and the runs, with the API faked; and a journey with the real one. */
import { AxeBuilder } from "@axe-core/playwright";
import type { Page, Route } from "playwright-core";
import { expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import {
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
  waitUntilLoaded,
} from "../../support/web.ts";
import type { Backtest, BacktestDifference, BacktestResult, BacktestRun } from "../../../schemas/backtest.ts";

const definition = (amount: string) => ({
  inputs: { type: "object", properties: { count: { type: "integer" } } },
  steps: [{ id: "total", type: "set", values: { amount: `\${{ ${amount} }}` } }],
  output: "${{ steps.total.amount }}",
});

/** With two fields in its output, of which one may differ. */
const report = (total: string, note: string) => ({
  ...definition("inputs.count * 10"),
  output: { total: `\${{ ${total} }}`, note },
});

const TOTAL = 24;

function resultAt(position: number): BacktestResult {
  if (position === 7) return "failing";
  if (position % 9 === 5) return "different";
  return position % 11 === 3 ? "not_comparable" : "equal";
}

const DIFFERENCES: Readonly<Record<Exclude<BacktestResult, "equal">, BacktestDifference>> = {
  different: {
    step: "revenue",
    message: "The output has another total.",
    differences: [
      { path: "rows[2].total", before: 41, after: 42 },
      {
        path: "rows[2].name",
        before: "North",
        after: "North and West, with the islands and everything else…",
      },
      { path: "currency", after: "EUR" },
      { path: "note", before: null, after: "n/a" },
    ],
  },
  failing: {
    step: "send",
    item: 3,
    message: "invalid_mail_address: to must be an address, got an empty text.",
    fix: "Give the step an address, or skip it with if.",
    differences: [],
  },
  not_comparable: {
    reason: "changed_read",
    step: "orders",
    message: "The query has another input than in the run, so nobody knows its rows.",
    fix: "Start the backtest with reads: live.",
    differences: [{ path: "sql", before: "select * from orders", after: "select * from orders where paid" }],
  },
};

function runAt(position: number): BacktestRun {
  const result = resultAt(position);
  return {
    position,
    run_id: `run_past${position}`,
    replay: `run_replay${position}`,
    created_at: new Date(Date.UTC(2026, 10, 28, 6) - position * 3_600_000).toISOString(),
    status: position % 11 === 0 ? "failed" : "succeeded",
    result,
    ...(result !== "equal" && { difference: DIFFERENCES[result] }),
  };
}

const RUNS = Array.from({ length: TOTAL }, (_, position) => runAt(position));
const countOf = (result: BacktestResult): number => RUNS.filter((run) => run.result === result).length;

const BACKTEST: Backtest = {
  id: "bt_8dkq2m0sfj3a",
  workflow_id: "report",
  version: 1,
  reads: "recorded",
  status: "finished",
  runs: {
    total: TOTAL,
    pending: 0,
    equal: countOf("equal"),
    different: countOf("different"),
    failing: countOf("failing"),
    not_comparable: countOf("not_comparable"),
  },
  first: [],
  effects: [
    {
      step: "send",
      type: "email",
      unchanged: 18,
      changed: 5,
      added: 0,
      removed: 1,
      first: {
        run_id: "run_past5",
        differences: [{ path: "subject", before: "Revenue: 41", after: "Revenue: 42" }],
      },
    },
    { step: "save_totals", type: "sql", unchanged: 24, changed: 0, added: 0, removed: 0 },
  ],
  reasons: { changed_read: 2 },
  cost: { before: 0.42, after: 0.31 },
  step_ms: { before: 812_000, after: 540_000 },
  tokens: { before: 120_400, after: 80_100 },
  message: null,
  started_by: "ann@example.com",
  created_at: "2026-11-28T06:30:00.000Z",
  finished_at: "2026-11-28T06:31:12.000Z",
  cancelled_by: null,
};

const RUNNING: Backtest = {
  ...BACKTEST,
  id: "bt_running00001",
  status: "running",
  runs: { total: TOTAL, pending: 12, equal: 8, different: 1, failing: 1, not_comparable: 2 },
  message: "Waits for a slot: 20 runs of the project are running.",
  finished_at: null,
};

const json = (route: Route, body: unknown, headers: Record<string, string> = {}) =>
  route.fulfill({ contentType: "application/json", body: JSON.stringify(body), headers });

async function fakeBacktests(page: Page): Promise<void> {
  const { effects: _, reasons: _reasons, step_ms: _time, tokens: _tokens, cost: _cost, ...running } = RUNNING;
  await page.route(/\/workflows\/report\/backtests/, async (route) => {
    const url = new URL(route.request().url());
    if (url.pathname.startsWith("/ui/")) return route.fallback();
    const path = url.pathname.replace(/^.*\/backtests/, "");
    if (path === "") return json(route, [running, BACKTEST], { "X-Total-Count": "2" });
    const [, id, runs] = path.split("/");
    if (runs !== "runs") return json(route, id === running.id ? running : BACKTEST);
    const wanted = url.searchParams.get("result");
    const items = RUNS.filter(({ result }) => wanted === null || wanted === result);
    const limit = Number(url.searchParams.get("limit"));
    return json(route, items.slice(0, limit), { "X-Total-Count": String(items.length) });
  });
}

const overflow = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page })
    .options({ resultTypes: ["violations"] })
    .analyze();
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary}`),
  );
}

it("shows a backtest in every width and colour scheme, and filters its runs in the address", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  await requestApi(ann, "POST", "/workflows", { name: "Report", definition: definition("1") });
  const browser = await openBrowser();
  const pages = {
    backtest: `/workflows/report/backtests/${BACKTEST.id}`,
    running: `/workflows/report/backtests/${RUNNING.id}`,
    workflow: "/workflows/report",
  };
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1440, 390]) {
      const view = await openWindow(browser, site, ann, { viewport: { width, height: 900 }, colorScheme });
      await fakeBacktests(view.page);
      for (const [name, path] of Object.entries(pages)) {
        await view.visit(path);
        await waitUntilLoaded(view.page);
        await takeScreenshot(view.page, `${name}-${width}-${colorScheme}`);
        expect({ name, width, overflow: await overflow(view.page) }).toEqual({ name, width, overflow: 0 });
        expect({ name, width, colorScheme, issues: await violations(view.page) }).toEqual({
          name,
          width,
          colorScheme,
          issues: [],
        });
      }
      await view.page.getByRole("button", { name: "Backtest", exact: true }).click();
      await view.page.getByRole("button", { name: "Start backtest" }).waitFor();
      await takeScreenshot(view.page, `dialog-${width}-${colorScheme}`);
      expect(await violations(view.page)).toEqual([]);
    }
  const { page, visit } = await openWindow(browser, site, ann);
  await fakeBacktests(page);
  await visit(pages.backtest);
  await page.getByRole("button", { name: /^failing \(1\)/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("1 of 1").waitFor();
  expect(page.url()).toContain("?result=failing");
  await page.reload();
  await page.getByText("1 of 1").waitFor();
  const compare = page.getByRole("link", { name: /Side by side.*run_past7/ });
  expect(await compare.getAttribute("href")).toBe("/ui/runs/run_replay7/compare?with=run_past7");
});

it("tests the text in the editor and a version with past runs, before it is published", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  await requestApi(ann, "POST", "/workflows", {
    name: "Report",
    definition: definition("inputs.count * 10"),
  });
  for (const count of [1, 3])
    await requestApi(ann, "POST", "/workflows/report/runs", { inputs: { count }, wait: 30 });
  const { page, visit } = await openWindow(await openBrowser(), site, ann);

  await visit("/workflows/report/edit");
  const text = page.getByRole("textbox", { name: "Definition of Report" });
  await text.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(JSON.stringify(definition("inputs.count > 2 ? 31 : inputs.count * 10")));
  await page.getByRole("button", { name: "Backtest" }).click();
  await page.getByRole("button", { name: "Start backtest" }).click();
  await page.getByText("1 equal, 1 different, 0 failing, 0 not comparable.").waitFor();
  await takeScreenshot(page, "editor");
  const href = await page.getByRole("link", { name: /^Show the backtest/ }).getAttribute("href");
  expect(await requestApi(ann, "GET", "/workflows/report")).toMatchObject({ version: 1 });

  await requestApi(ann, "PATCH", "/workflows/report", { definition: definition("10 * inputs.count") });
  await visit("/workflows/report");
  await page.getByRole("button", { name: "Publish" }).click();
  const dialog = page.getByRole("dialog", { name: /^Publish version 2/ });
  await dialog.getByRole("button", { name: "Backtest with the last 100 runs" }).click();
  await dialog.getByText("2 equal, 0 different, 0 failing, 0 not comparable.").waitFor();
  await dialog.getByText(/^Backtest finished, 2 runs/).waitFor();
  await takeScreenshot(page, "publish");
  await page.keyboard.press("Escape");

  await visit(href!.replace("/ui", ""));
  await heading(page, "Backtest of report").waitFor();
  await page.getByText("draft based on version 1").waitFor();
  await page.getByRole("link", { name: /^1\s*different/ }).click();
  await page.getByText("1 of 1").waitFor();
  const row = page.getByRole("table", { name: "Runs" }).getByRole("row").nth(1);
  await row.getByText("30", { exact: true }).first().waitFor();
  await row.getByText("31", { exact: true }).first().waitFor();
  await takeScreenshot(page, "draft");
  await row.getByRole("link", { name: /^Replay/ }).click();
  await page.getByText("Replay of", { exact: true }).waitFor();
  await takeScreenshot(page, "replay");
});

it("backtests a workflow with the runs of another one, which it is to replace", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  for (const name of ["Copy", "Report"])
    await requestApi(ann, "POST", "/workflows", { name, definition: definition("inputs.count * 10") });
  for (const count of [1, 2, 3])
    await requestApi(ann, "POST", "/workflows/copy/runs", { inputs: { count }, wait: 30 });
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  await visit("/workflows/report");
  await page.getByRole("button", { name: "Backtest", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Backtest" });
  await dialog.getByRole("combobox", { name: "Runs of" }).fill("cop");
  await page.getByRole("option", { name: /^Copy/ }).click();
  await takeScreenshot(page, "source");
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Start backtest" }).click();
  await heading(page, "Backtest of Report").waitFor();
  await page
    .getByText(/^3\s*equal/)
    .first()
    .waitFor();
  await page.getByRole("link", { name: "Copy", exact: true }).first().waitFor();
});

it("publishes what differs only once each difference is accepted by name, where the project demands a backtest", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  await visit("/projects/default");
  await page.getByRole("switch", { name: "Require a backtest" }).click({ force: true });
  await page.getByRole("textbox", { name: "Number of runs" }).fill("20");
  const allowed = page.getByRole("combobox", { name: "What may differ" });
  await allowed.fill("output.note");
  await page.keyboard.press("Enter");
  await takeScreenshot(page, "rule");
  await page.getByRole("button", { name: "Save details" }).click();
  await page.getByText("Saved the project").waitFor();
  expect(await requestApi(ann, "GET", "/projects/default")).toMatchObject({
    backtest: { last: 20, allow: ["output.note"] },
  });

  await requestApi(ann, "POST", "/workflows", {
    name: "Report",
    definition: report("steps.total.amount", "net"),
  });
  // What drafts did says nothing.
  await requestApi(ann, "POST", "/workflows/report/publish", {});
  for (const count of [1, 3])
    await requestApi(ann, "POST", "/workflows/report/runs", { inputs: { count }, wait: 30 });
  await requestApi(ann, "PATCH", "/workflows/report", {
    definition: report("steps.total.amount + 1", "gross"),
  });
  await visit("/workflows/report/versions");
  await page.getByRole("button", { name: "Actions for version 2" }).click();
  await page.getByRole("menuitem", { name: "Publish" }).click();
  const dialog = page.getByRole("dialog", { name: /^Publish version 2/ });
  await dialog.getByRole("button", { name: "Publish", exact: true }).click();
  const difference = dialog.getByRole("checkbox", { name: "Accept output.total" });
  await difference.waitFor();
  await dialog.getByText("0 equal, 2 different, 0 failing, 0 not comparable.").waitFor();
  const href = await dialog.getByRole("link", { name: /^Show backtest bt_/ }).getAttribute("href");
  expect(href).toMatch(/^\/ui\/workflows\/report\/backtests\/bt_[\w-]+$/);
  await takeScreenshot(page, "differences");
  expect(await violations(page)).toEqual([]);
  const publish = dialog.getByRole("button", { name: "Publish anyway" });
  expect(await publish.isDisabled()).toBe(true);
  await difference.check();
  await publish.click();
  await page.getByText("Published version 2 of").waitFor();
  await page.getByText("0 of 2 equal; accepted").waitFor();
  await page.getByText("There were no runs to backtest").waitFor();
  await takeScreenshot(page, "accepted");
  const versions = await requestApi<object>(ann, "GET", "/workflows/report/versions");
  expect(versions).toMatchObject([
    { backtest: { accepted: ["output.total"], allowed: ["output.note"] } },
    {},
  ]);
});

it("goes on waiting for a backtest, and says what was published after the dialog was closed", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  await requestApi(ann, "POST", "/workflows", { name: "Report", definition: definition("1") });
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  const asked: Route[] = [];
  await page.route(/\/workflows\/report\/publish$/, (route) => {
    asked.push(route);
    if (asked.length > 1) return;
    return route.fulfill({
      status: 409,
      contentType: "application/problem+json",
      body: JSON.stringify({
        type: "about:blank",
        title: "The backtest has not ended",
        status: 409,
        code: "backtest_unfinished",
        detail: "Nothing was published.",
        errors: [{ path: "version", code: "backtest_unfinished", message: "is being tested" }],
      }),
    });
  });
  await visit("/workflows/report");
  await page.getByRole("button", { name: "Publish" }).click();
  const dialog = page.getByRole("dialog", { name: /^Publish version 1/ });
  await dialog.getByRole("button", { name: "Publish", exact: true }).click();
  const again = await eventually(() => asked[1], "the second request");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await again.continue();
  await page.getByText("Published version 1 of").waitFor();
  expect(await requestApi(ann, "GET", "/workflows/report")).toMatchObject({ published_version: 1 });
  expect(asked).toHaveLength(2);
});
