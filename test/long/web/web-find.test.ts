/** Ctrl K finds workflows, runs by their ids, people, pages and actions: what the person may see and do. */
import { expect, it } from "vitest";
import type { Run } from "../../../schemas/run.ts";
import { violations } from "../../support/axe.ts";
import {
  addPerson,
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
  waitUntilLoaded,
} from "../../support/web.ts";

const SET = { steps: [{ id: "greet", type: "set", values: { text: "Good morning" } }] };
const FIELD = "Find workflows, runs, people, pages and actions";

it("finds by keyboard what is asked for, and remembers the workflows that were opened", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const vera = await addPerson(site, ann, "vera@example.com", "viewer");
  for (const name of ["Weekly revenue", "Café orders"])
    await requestApi(ann, "POST", "/workflows", { name, definition: SET });
  const run = await requestApi<Run>(ann, "POST", "/workflows/weekly-revenue/runs", { wait: 30 });
  const browser = await openBrowser();
  const { page, visit, problems } = await openWindow(browser, site, ann);
  const field = page.getByLabel(FIELD);
  const option = (name: RegExp | string) => page.getByRole("option", { name });

  await visit("/");
  await page.keyboard.press("Control+k");
  await field.fill("cafe ORD");
  await option(/^Café orders/).waitFor();
  expect(await violations(page)).toEqual([]);
  await takeScreenshot(page, "find");
  await page.keyboard.press("Enter");
  await heading(page, "Café orders").waitFor();

  await page.keyboard.press("Control+k");
  await page.getByText("This workflow: Café orders").waitFor();
  await field.fill("start");
  await option("Run").waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/workflows\/cafe-orders\/run$/);

  await page.getByRole("button", { name: /^Find/ }).click();
  await option("Café orders").first().waitFor();
  await field.fill(`"run_id":"${run.id}"`);
  await option(`Run ${run.id}`).waitFor();
  await page.keyboard.press("Enter");
  await heading(page, "Run of Weekly revenue").waitFor();

  await page.keyboard.press("Control+k");
  await field.fill("vera");
  await option(/^vera@example.com/).waitFor();
  await field.fill("zzz");
  await page.getByText("Nothing found.").waitFor();
  await field.fill("keyboard");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await takeScreenshot(page, "shortcuts");
  await page.keyboard.press("Escape");
  expect(problems).toEqual([]);

  const hers = await openWindow(browser, site, vera, { viewport: { width: 390, height: 844 } });
  await hers.visit("/");
  await hers.page.getByRole("button", { name: "Find" }).click();
  await hers.page.getByRole("option", { name: "Failed runs" }).waitFor();
  await takeScreenshot(hers.page, "find-narrow");
  for (const name of ["New workflow", "People", "Audit log"])
    expect(await hers.page.getByRole("option", { name }).count()).toBe(0);
  await hers.page.getByLabel(FIELD).fill("ann@example.com");
  await hers.page.getByText("Nothing found.").waitFor();
  expect(hers.errorResponses).toEqual([]);
  await waitUntilLoaded(hers.page);
});
