import { expect, it } from "vitest";
import {
  chooseFromUserMenu,
  heading,
  openBrowser,
  openSeededSite,
  openWindow,
  takeScreenshot,
} from "../../support/web.ts";

it("A key is limited in the dialog, and its page says in words what it can do", async () => {
  const { site, ben } = await openSeededSite();
  const browser = await openBrowser();
  const { page, visit, problems } = await openWindow(browser, site, ben);
  const field = (label: string) => page.getByLabel(label, { exact: true }).and(page.locator("input"));
  await visit("/");
  await chooseFromUserMenu(page, "API Keys");
  await heading(page, "API Keys").waitFor();
  await page.getByRole("button", { name: "Create New API Key" }).first().click();
  await page.getByLabel("Name").fill("reports");
  await page.getByRole("button", { name: "Limit it further" }).click();
  // There is one project, so there is nothing to choose.
  expect(await page.getByLabel("Projects").count()).toBe(0);
  const workflows = field("Workflows");
  await workflows.fill("month-end");
  await workflows.press("Enter");
  await field("Tools").fill("run_workflo");
  await field("Tools").press("Enter");
  // A key that is limited to workflows changes none.
  expect(await page.getByRole("checkbox", { name: "write" }).isDisabled()).toBe(true);
  expect(await page.getByRole("checkbox", { name: "publish" }).isChecked()).toBe(false);
  await takeScreenshot(page, "create-key-1280");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("limits.tools[0] is not the name of an operation or tool, got run_workflo.").waitFor();
  await field("Tools").press("Backspace");
  await field("Tools").fill("run_workflow");
  await field("Tools").press("Enter");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("button", { name: /saved it/ }).click();
  await takeScreenshot(page, "keys-1280");
  await page.getByRole("link", { name: "reports" }).first().click();
  await heading(page, "API key “reports”").waitFor();
  await page.getByText("It can run one workflow: Month end (month-end).").waitFor();
  await page.getByText("It cannot change or publish anything.").waitFor();
  expect(await page.getByText(/project/i).count()).toBe(0);
  await takeScreenshot(page, "key-1280");
  const narrow = await openWindow(browser, site, ben, { viewport: { width: 400, height: 800 } });
  await narrow.visit(new URL(page.url()).pathname.replace("/ui", ""));
  await heading(narrow.page, "API key “reports”").waitFor();
  await takeScreenshot(narrow.page, "key-400");
  const width = await narrow.page.evaluate<number>("document.documentElement.scrollWidth");
  expect(width).toBeLessThanOrEqual(400);
  // The refused key.
  expect(problems.filter((problem) => !problem.includes("400"))).toEqual([]);
});
