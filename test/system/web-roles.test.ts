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
} from "../support/web.ts";

/** What every page offers a viewer around its content. */
const FRAME = new Set([
  "Skip to the content",
  "Millrace, home",
  "User menu of vera@example.com",
  "Home",
  "Workflows",
  "Runs",
  "Approvals",
  "Approvals 1",
  "Connect an agent",
  "API reference",
]);

/** What a viewer may be offered, on any page: looking, and what is their own. */
const ALLOWED = [
  // Ways to what there is.
  /^\d+ (failed in 24 hours|approvals waiting|under way|succeeded in 24 hours)$/,
  /^(Waits for a decision|Failed lately|Ran lately|Comes next): all$/,
  /^(All its runs|What changed|To the workflow|Versions|version \d+|Your keys)$/,
  /^(Only with the tag )?(sales|daily|regions|customers|approval)$/,
  /^(Revenue by region|Month end|Two queries, joined|Ask before it is done|Unpaid orders, every morning)$/,
  /^(Workflow )?(revenue-by-region|month-end|two-queries-joined|ask-before-it-is-done|unpaid-orders-every-morning)$/,
  /^run_[\w-]+$/,
  /^\d+ (second|minute)s? ago$/,
  /^Give 17 customers in the north a discount of 10 %\?$/,
  // The step of that name, not the decision.
  /^approve$/,
  /^Look: approve$/,
  // Ways to look at it, and to take it away.
  /^(Steps|Definition|Graph|Timeline|Steps \(\d+\)|Table|Chart|JSON|YAML)$/,
  /^\w+, \w+,.* needs(: \w+| nothing) /,
  /^(Zoom In|Zoom Out|Show the whole graph|React Flow attribution)$/,
  /^Close( revenue| gate)?$/,
  /^(region|revenue|orders)$/,
  /^(Inputs of the run|customers sql succeeded)$/,
  /^(Copy .+|Download|CSV, for a spreadsheet)$/,
  // What is their own: keys, a password.
  /^(Create New API Key|Create a key|Actions for the key dashboard|Rotate…|Revoke…)$/,
  /^(Show the (present )?password|Change the password)$/,
];

/** The names of all that can be pressed or followed, of what shows and of the menus behind it. */
async function offered(page: Page): Promise<string[]> {
  const names = () =>
    page
      .locator("a[href], button, [role=button], [role=menuitem], [role=tab], summary")
      .evaluateAll((all) =>
        (all as unknown as Pressable[])
          .filter((one) => one.checkVisibility())
          .map((one) => (one.getAttribute("aria-label") ?? one.innerText).replaceAll(/\s+/g, " ").trim()),
      );
  const found = await names();
  const menus = page.locator("main button[aria-haspopup=menu]");
  for (let index = 0; index < (await menus.count()); index += 1) {
    if (!(await menus.nth(index).isVisible())) continue;
    await menus.nth(index).click();
    await page.getByRole("menuitem").first().waitFor();
    found.push(...(await names()));
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
  }
  return [...new Set(found)].filter((name) => !FRAME.has(name));
}

interface Pressable {
  checkVisibility(): boolean;
  getAttribute(name: string): string | null;
  innerText: string;
}

describe("a viewer", () => {
  it("is offered nothing on any page that a viewer can't do, and no page asks for what is refused", async () => {
    const { site, vera, pages } = await openSeededSite();
    expect([...Object.keys(pages), ...SIGNED_OUT_PAGES]).toEqual(expect.arrayContaining(routerPaths()));
    const { page, visit, errorResponses, problems } = await openWindow(await openBrowser(), site, vera);
    const strange: string[] = [];
    const links = new Set<string>();
    for (const path of Object.values(pages)) {
      await visit(path);
      const names = await offered(page);
      strange.push(
        ...names
          .filter((name) => !ALLOWED.some((allowed) => allowed.test(name)))
          .map((name) => `${path}: ${name}`),
      );
      const here = await page
        .locator("main a[href^='/ui']")
        .evaluateAll((all) => all.map((link) => (link as unknown as Pressable).getAttribute("href")!));
      for (const link of here) links.add(link.slice("/ui".length));
    }
    expect(strange).toEqual([]);
    // Where the links lead: to pages that are for a viewer too.
    for (const link of links) {
      if (Object.values(pages).includes(link)) continue;
      await visit(link);
      const dead = await heading(page, "Not found")
        .or(page.getByText(/^This is for/))
        .count();
      expect({ link, dead }).toEqual({ link, dead: 0 });
    }
    expect(errorResponses).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("is told in words where a page is not for them, by the address alone", async () => {
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
      await page.getByText(/^This is for/).waitFor();
      await page.getByText("You are signed in as vera@example.com, with the role viewer.").waitFor();
    }
    expect(errorResponses).toEqual([]);
    // An editor is no admin.
    const editors = await openWindow(browser, site, ben);
    await editors.visit("/");
    expect(
      await editors.page
        .getByRole("navigation")
        .getByRole("link", { name: /People|Audit/ })
        .count(),
    ).toBe(0);
    for (const path of ["/people", "/audit"]) {
      await editors.visit(path);
      await editors.page.getByText("This is for an admin").waitFor();
    }
    expect(editors.errorResponses).toEqual([]);
    await waitUntilLoaded(editors.page);
  });
});
