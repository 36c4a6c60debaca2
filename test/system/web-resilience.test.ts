import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  addPerson,
  requestApi,
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  PASSWORD,
  signIn,
} from "../support/web.ts";

const linesOf = async (page: Page): Promise<string> =>
  (await page.locator(".cm-line").allTextContents()).join("\n");

describe("who is careless, or unlucky", () => {
  it("writes from nothing, clicks twice, and loses nothing when the session ends", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    await addPerson(site, ann, "ben@example.com", "editor");
    const definition = { steps: [{ id: "a", type: "set", values: { x: 1 } }] };
    const { id } = await requestApi(ann, "POST", "/workflows", { name: "Some", definition });
    const { page, visit } = await openWindow(await openBrowser(), site);
    await visit(`/workflows/${id}/edit`);
    await signIn(page, ann.email);
    await page.locator(".cm-content").first().click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    // The graph of nothing, and then of something: neither may take the text with it.
    await page.getByText(/empty/i).first().waitFor();
    await page.keyboard.type("steps:");
    await page.keyboard.press("Escape");
    await page.keyboard.type("\n- id: one\ntype: set");
    // A word that is whole already: Enter is a new line, not the same word again.
    await page.locator(".cm-tooltip-autocomplete").waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await page.keyboard.type("values: { b: 2");
    const written = await linesOf(page);
    expect(written).toMatch(/^steps:\n +- id: one\n +type: set\n +values: \{ b: 2\}$/);

    // As if it had been ended elsewhere.
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const over = page.getByRole("dialog", { name: "You are signed out" });
    await over.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
    await over.getByRole("button", { name: "Sign in", exact: true }).click();
    await over.waitFor({ state: "detached" });
    expect(await linesOf(page)).toBe(written);

    await page.getByRole("button", { name: "Save", exact: true }).dblclick();
    await page.getByText("Saved as version 2").first().waitFor();
    expect(new URL(page.url()).pathname).toBe(`/ui/workflows/${id}/edit`);
    const { version } = await requestApi<{ version: number }>(ann, "GET", `/workflows/${id}`);
    expect(version).toBe(2);
  });

  it("sees nothing of the one before in a tab that was left open", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    const ben = await addPerson(site, ann, "ben@example.com", "viewer");
    await requestApi(ann, "POST", "/api-keys", { name: "of ann alone" });
    const { page, visit } = await openWindow(await openBrowser(), site, ann);
    await visit("/keys");
    await page.getByText("of ann alone").first().waitFor();
    await page.context().clearCookies();
    const tab = await page.context().newPage();
    await tab.goto(`${site.url}/ui/sign-in`);
    await signIn(tab, ben.email);
    await heading(tab, "Home").waitFor();
    await page.getByRole("button", { name: `User menu of ${ben.email}` }).waitFor();
    expect(await page.getByText("of ann alone").count()).toBe(0);
  });
});
