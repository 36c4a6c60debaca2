/** Finding things: the command palette, favourites and saved filters, and what stays while the server is away. */
import { expect, it } from "vitest";
import { accessibilityIssues } from "../support/accessibility.ts";
import {
  type BrowserWindow,
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
  type Person,
} from "../support/web.ts";

const create = (ann: Person, name: string, more: object = {}) =>
  requestApi(ann, "POST", "/workflows", {
    name,
    definition: { steps: [{ id: "hello", type: "set", values: { text: "Hello" } }] },
    ...more,
  });

it("a workflow is found by the palette, by favourites, groups and saved filters, and named where its name is taken", async () => {
  const site = await openSite({ workers: 0 });
  const ann = await createFirstAdmin(site);
  await create(ann, "Weekly revenue", { tags: ["sales"] });
  await create(ann, "每周收入报告", { tags: ["sales", "daily"] });
  const window = await openWindow(await openBrowser(), site, ann);
  await findByPalette(window);
  expect(window.problems).toEqual([]);
  await findInList(window);
  expect(window.problems.filter((problem) => !problem.includes("404"))).toEqual([]);
});

/** By keyboard alone: opens a workflow, runs one, and finds nothing. */
async function findByPalette({ page, visit }: BrowserWindow): Promise<void> {
  await visit("/workflows");
  const search = page.getByRole("combobox", { name: /^Search workflows/ });
  const openPalette = async () => {
    await page.keyboard.press("Control+k");
    // What is typed before goes elsewhere.
    await search.and(page.locator(":focus")).waitFor();
  };
  await openPalette();
  await page.keyboard.type("revenue");
  await page.getByRole("option", { name: /^Weekly revenue/, selected: true }).waitFor();
  expect(await accessibilityIssues(page)).toEqual([]);
  await takeScreenshot(page, "palette");
  await page.keyboard.press("Enter");
  await heading(page, "Weekly revenue").waitFor();
  expect(await search.count()).toBe(0);

  await openPalette();
  await page
    .getByRole("group", { name: "Recent" })
    .getByRole("option", { name: /^Weekly revenue/ })
    .waitFor();
  await page.keyboard.type("run 每周");
  await page.getByRole("option", { name: /^Run 每周收入报告/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/workflows\/mei-zhou-shou-ru-bao-gao\/run$/);
  await search.waitFor({ state: "detached" });
  await openPalette();
  await page.keyboard.type("nothing of the kind");
  await page.getByText(/^Nothing found for “nothing of the kind”/).waitFor();
  await page.keyboard.press("Escape");
  await search.waitFor({ state: "detached" });
}

/** Marks, groups and saves in the list; names that are taken or wrong are pointed out. */
async function findInList({ page, visit }: BrowserWindow): Promise<void> {
  await visit("/workflows");
  await page.getByRole("button", { name: "Favourite: Weekly revenue" }).click();
  await page.getByRole("button", { name: "Favourite: Weekly revenue", pressed: true }).waitFor();
  await page.getByRole("switch", { name: "Group by tag" }).click();
  await page.getByRole("button", { name: "sales 2" }).waitFor();
  await page.getByRole("button", { name: "Saved filters" }).click();
  await page.getByLabel("Save the current filters as").fill("By tag");
  // Of the list too, which stays beside it.
  expect(await accessibilityIssues(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "By tag" }).waitFor();
  await takeScreenshot(page, "groups");
  await visit("/workflows/new");
  await page.getByLabel(/^Name/).fill("weekly  REVENUE");
  await page.getByText(/^Another workflow has this name/).waitFor();
  await visit("/workflows/weekly-revenu");
  await page.getByRole("link", { name: "Weekly revenue" }).waitFor();
  await takeScreenshot(page, "not-found");
}

it("pages stay while the server can't be reached, and go on when it is back", async () => {
  const site = await openSite({ workers: 0 });
  const ann = await createFirstAdmin(site);
  await create(ann, "Weekly revenue");
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  await visit("/workflows");
  await page.getByRole("link", { name: "Weekly revenue" }).waitFor();
  await page.context().setOffline(true);
  const banner = page.getByRole("status").filter({ hasText: "The server can’t be reached" });
  await banner.waitFor();
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await banner.getByText("The page that you opened loads then.").waitFor();
  await heading(page, "Workflows").waitFor();
  await takeScreenshot(page, "offline");
  expect(await accessibilityIssues(page)).toEqual([]);
  await page.context().setOffline(false);
  await heading(page, "Runs").waitFor();
  await banner.waitFor({ state: "detached" });
});
