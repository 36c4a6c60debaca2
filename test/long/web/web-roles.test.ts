import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  heading,
  openBrowser,
  openWindow,
  openSeededSite,
  routerPaths,
  waitUntilLoaded,
  SIGNED_OUT_PAGES,
} from "../../support/web.ts";

/** The links and buttons around the content of every page, for a viewer. */
const FRAME = new Set([
  "Skip to content",
  "Millrace, home",
  "Find Ctrl K",
  "User menu of vera@example.com",
  "Home",
  "Workflows",
  "Runs",
  "Approvals",
  "Approvals 1",
  "Connect an agent",
  "API reference",
]);

/** The actions that a viewer may have on any page: those that only read, and those on their own account. */
const ALLOWED = [
  // Links.
  /^\d+ (failed in 24 hours|approvals pending|in progress|succeeded in 24 hours)$/,
  /^(Last 14 days|Pending approvals|Recent failures|Recent runs|Upcoming): all$/,
  // Statistics of runs.
  /^(\d+ runs? in 14 days|\d+ failed: Month end|Statistics|List of runs|Clear filters)$/,
  /^(day|runs|succeeded|failed|waiting|median_ms|p95_ms|first|last)$/,
  /^(All runs|Interruptions|Compare versions|Back to the workflow|Versions|version \d+|Your keys|API Keys|All API keys|dashboard|skill)$/,
  /^(Filter by tag )?(sales|daily|regions|customers|approval)$/,
  /^(workflow )?(Revenue by region|Month end|Quarter end|Join two queries|Ask for approval|Unpaid orders every morning)$/,
  // A run of a single step.
  /^set step set$/,
  /^run_[\w-]+$/,
  // Bulk actions and backtests.
  /^((All bulk|Bulk) actions|Retry of 1 run of Month end|Backtest of version 3)$/,
  /^(all|retried|skipped|equal|different|failing|not comparable) \([01]\)$/,
  /^[01] (equal|different|failing|not comparable)$/,
  /^\d+ \w+ \d{4}, [\d:]+$/,
  /^(Replay of run_[\w-]+|Side by side : run_[\w-]+ and its replay)$/,
  // The comparison of two runs.
  /^(Compare|Compare with the last good run|Previous change|Next change|\w+ \w+ in run_[\w-]+)$/,
  /^\d+ (second|minute)s? ago$/,
  /^Give 17 customers in the north a discount of 10 %\?$/,
  // The step of that name, not the decision.
  /^approve$/,
  /^View approve$/,
  /^(Publish version 1 of Quarter end|Review the change)$/,
  // Views, copies and downloads.
  /^(Steps|Definition|Graph|Timeline|Steps \(\d+\)|Table|Chart|JSON|YAML)$/,
  /^\w+, \w+,.* needs(: \w+| no other step) /,
  /^(Zoom In|Zoom Out|Fit the graph to the view|React Flow attribution)$/,
  /^Close( revenue| gate)?$/,
  /^(Expand|Collapse)$/,
  /^(region|revenue|orders)$/,
  /^(Run inputs|Inputs|customers sql succeeded)$/,
  /^(Copy .+|Download|CSV|Check again)$/,
  /^Evidence, plan and comment$/,
  // Their own keys, absence and password.
  /^Save absence$/,
  /^(Create New API Key|Create API key|Actions for the key dashboard|Changes|Rotate…|Revoke…)$/,
  /^(Show (current )?password|Change password)$/,
];

/** @returns the names of all visible links and enabled buttons, and of the items of their menus */
async function actionNames(page: Page): Promise<string[]> {
  const names = () =>
    page
      .locator("a[href], button, [role=button], [role=menuitem], [role=tab], summary")
      .evaluateAll((all) =>
        (all as unknown as Pressable[])
          .filter((one) => one.checkVisibility() && !one.matches(":disabled, [aria-hidden=true]"))
          .map((one) => (one.getAttribute("aria-label") ?? one.innerText).replaceAll(/\s+/g, " ").trim()),
      );
  const collected = await names();
  const menus = page.locator("main button[aria-haspopup=menu]");
  for (let index = 0; index < (await menus.count()); index += 1) {
    if (!(await menus.nth(index).isVisible())) continue;
    await menus.nth(index).click();
    await page.getByRole("menuitem").first().waitFor();
    collected.push(...(await names()));
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
  }
  return [...new Set(collected)].filter((name) => !FRAME.has(name));
}

interface Pressable {
  checkVisibility(): boolean;
  matches(selector: string): boolean;
  getAttribute(name: string): string | null;
  innerText: string;
}

/** The runs of the site are the first ones of their workflows, so there is none to compare them with. */
const isUnexpected = (request: string): boolean => !/\/runs\/[\w-]+\/compare\b/.test(request);

describe("a viewer", () => {
  it("sees no action that a viewer cannot perform, and no page sends a request that is refused", async () => {
    const { site, vera, pages } = await openSeededSite();
    expect([...Object.keys(pages), ...SIGNED_OUT_PAGES]).toEqual(expect.arrayContaining(routerPaths()));
    const { page, visit, errorResponses, problems } = await openWindow(await openBrowser(), site, vera);
    const unexpected: string[] = [];
    const links = new Set<string>();
    for (const path of Object.values(pages)) {
      await visit(path);
      const names = await actionNames(page);
      unexpected.push(
        ...names
          .filter((name) => !ALLOWED.some((allowed) => allowed.test(name)))
          .map((name) => `${path}: ${name}`),
      );
      const pageLinks = await page
        .locator("main a[href^='/ui']")
        .evaluateAll((all) => all.map((link) => (link as unknown as Pressable).getAttribute("href")!));
      for (const link of pageLinks) links.add(link.slice("/ui".length));
    }
    expect(unexpected).toEqual([]);
    // The links lead to pages that a viewer can open.
    for (const link of links) {
      if (Object.values(pages).includes(link)) continue;
      await visit(link);
      const refused = await heading(page, "Not found")
        .or(page.getByText(/^Only .* can open this page$/))
        .count();
      expect({ link, refused }).toEqual({ link, refused: 0 });
    }
    expect(errorResponses.filter(isUnexpected)).toEqual([]);
    expect(problems.filter(isUnexpected)).toEqual([]);
  });

  it("gets an explanation on pages that need another role", async () => {
    const { site, vera, ben, pages } = await openSeededSite();
    const browser = await openBrowser();
    const { page, visit, errorResponses } = await openWindow(browser, site, vera);
    for (const path of [
      pages["/workflows/new"]!,
      pages["/workflows/:workflowId/edit"]!,
      pages["/workflows/:workflowId/run"]!,
      pages["/runs/:runId/retry"]!,
      pages["/people"]!,
      pages["/audit"]!,
    ]) {
      await visit(path);
      await page.getByText(/^Only (admins|editors and admins) can open this page$/).waitFor();
      await page.getByText("You're signed in as vera@example.com with the role viewer.").waitFor();
    }
    expect(errorResponses).toEqual([]);
    // Editors cannot open the pages of admins.
    const editorWindow = await openWindow(browser, site, ben);
    await editorWindow.visit("/");
    expect(
      await editorWindow.page
        .getByRole("navigation")
        .getByRole("link", { name: /People|Audit/ })
        .count(),
    ).toBe(0);
    for (const path of ["/people", "/audit"]) {
      await editorWindow.visit(path);
      await editorWindow.page.getByText("Only admins can open this page").waitFor();
    }
    expect(editorWindow.errorResponses).toEqual([]);
    await waitUntilLoaded(editorWindow.page);
  });
});
