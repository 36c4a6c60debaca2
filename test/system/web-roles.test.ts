import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { heading, openBrowser, openWindow, openWorld, routes, settled, SIGNED_OUT } from "../support/web.ts";

/** What every page offers a viewer around its content. */
const FRAME = [
  "Skip to the content",
  "Millrace, home",
  "User menu of vera@example.com",
  "Home",
  "Workflows",
  "Runs",
  "Approvals",
  "Connect an agent",
  "API reference",
];

/** What a viewer may be offered, on any page: looking, and what is their own. */
const ALLOWED: RegExp[] = [
];

/** The names of all that can be pressed or followed, of what shows and of the menus behind it. */
async function offered(page: Page): Promise<string[]> {
  const names = () =>
    page
      .locator("a[href], button, [role=button], [role=menuitem], [role=tab], summary")
      .evaluateAll((all) =>
        (all as unknown as Pressable[])
          .filter((it) => it.checkVisibility())
          .map((it) => (it.getAttribute("aria-label") ?? it.innerText).trim().split("\n")[0]!),
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
  return [...new Set(found)].filter((name) => !FRAME.includes(name));
}

interface Pressable {
  checkVisibility(): boolean;
  getAttribute(name: string): string | null;
  innerText: string;
}

describe("a viewer", () => {
  it("is offered nothing on any page that a viewer can't do, and no page asks for what is refused", async () => {
    const { site, vera, pages } = await openWorld();
    expect([...Object.keys(pages), ...SIGNED_OUT]).toEqual(expect.arrayContaining(routes()));
    const { page, visit, refused, complaints } = await openWindow(await openBrowser(), site, vera);
    const strange: string[] = [];
    const links = new Set<string>();
    for (const path of Object.values(pages)) {
      await visit(path);
      const names = await offered(page);
      strange.push(...names.filter((name) => !ALLOWED.some((allowed) => allowed.test(name))).map((name) => `${path}: ${name}`));
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
      expect(await heading(page, "Not found").count(), link).toBe(0);
      expect(await page.getByText(/^This is for/).count(), link).toBe(0);
    }
    expect(refused).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("is told in words where a page is not for them, by the address alone", async () => {
    const { site, vera, ben, pages } = await openWorld();
    const browser = await openBrowser();
    const { page, visit, refused } = await openWindow(browser, site, vera);
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
    expect(refused).toEqual([]);
    // An editor is no admin.
    const editors = await openWindow(browser, site, ben);
    await editors.visit("/");
    expect(await editors.page.getByRole("navigation").getByRole("link", { name: /People|Audit/ }).count()).toBe(0);
    for (const path of ["/people", "/audit"]) {
      await editors.visit(path);
      await editors.page.getByText("This is for an admin").waitFor();
    }
    expect(editors.refused).toEqual([]);
    await settled(editors.page);
  });
});
