/** One journey of two people through the web interface, from the first visit to an approved run. */
import { expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import {
  addPerson,
  chooseFromUserMenu,
  heading,
  openBrowser,
  openSite,
  openWindow,
  PASSWORD,
  type Person,
  selectOption,
} from "../support/web.ts";
import { browserApi } from "../support/browser-api.ts";

it("leads from the first visit over a key, a new workflow and its editor to a run that a colleague approves", async () => {
  const site = await openSite();
  const browser = await openBrowser();
  const anns = await openWindow(browser, site);
  const { page } = anns;

  // The first visit.
  await page.goto(site.setupLink);
  await heading(page, "Create your admin account").waitFor();
  await page.getByLabel("E-mail address").fill("ann@example.com");
  await page.getByLabel(/^Password/).fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
  await heading(page, "Home").waitFor();

  // A key.
  await chooseFromUserMenu(page, "API Keys");
  await page.getByRole("button", { name: "Create New API Key" }).first().click();
  const form = page.getByRole("dialog", { name: "Create New API Key" });
  await form.getByLabel(/^Name/).fill("ci");
  await form.getByRole("button", { name: "Create", exact: true }).click();
  const key = await page
    .getByText(/^mill_\w{30,}$/)
    .first()
    .innerText();
  expect((await apiClient(site.url, key)("GET", "/workflows")).body).toEqual([]);
  await page.getByRole("button", { name: "Done, I've saved it" }).click();

  // A workflow from a template, and a change in the editor.
  await anns.visit("/workflows");
  await page.getByRole("link", { name: "New workflow" }).first().click();
  await page.getByRole("radio", { name: "Ask for approval" }).click();
  await page.getByLabel(/^Name/).fill("Discounts");
  await page.getByRole("button", { name: "Create and edit" }).click();
  await heading(page, "Edit Discounts").waitFor();
  await page.getByRole("textbox", { name: /^Definition of / }).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("timeout: 3d\n");
  await page.getByText("Valid. Ready to run.").waitFor();
  await page.keyboard.press("Control+s");
  await page.getByText("Saved as version 2.").waitFor();
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Published version 2 of “Discounts”.").waitFor();

  // A run, which another person approves.
  await page.getByRole("link", { name: "Run", exact: true }).click();
  await selectOption(page, page.getByRole("combobox", { name: /^region/i }), "west");
  await page.getByLabel(/^discount/i).fill("15");
  await page.getByRole("button", { name: "Run version 2" }).click();
  await heading(page, "Run of discounts").waitFor();
  await page.getByText("Needs approval").waitFor();

  const api = browserApi(site.url);
  await api.request("POST", "/session", { email: "ann@example.com", password: PASSWORD });
  const ann: Person = { email: "ann@example.com", api };
  const bens = await openWindow(browser, site, await addPerson(site, ann, "ben@example.com", "editor"));
  await bens.visit("/approvals");
  await bens.page.getByRole("link", { name: /in the west a discount of 15 %\?$/ }).click();
  await selectOption(bens.page, bens.page.getByRole("combobox", { name: /^Budget/ }), "marketing");
  await bens.page.getByRole("button", { name: "Approve", exact: true }).click();
  await bens.page.getByText("Approved. The run continues.").waitFor();

  // The page of the person who started it follows without a reload.
  await page.getByRole("main").getByText("succeeded", { exact: true }).first().waitFor();
  for (const { problems, requestedHosts } of [anns, bens]) {
    expect(problems).toEqual([]);
    expect([...requestedHosts]).toEqual([new URL(site.url).host]);
  }
});
