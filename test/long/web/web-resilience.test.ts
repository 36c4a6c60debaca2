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
} from "../../support/web.ts";

const linesOf = async (page: Page): Promise<string> =>
  (await page.locator(".cm-line").allTextContents()).join("\n");

describe("users under bad conditions", () => {
  it("lose no input when they start from nothing, double-click, or their session ends", async () => {
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
    // Neither the empty graph nor the next one may change the text.
    await page.getByText(/empty/i).first().waitFor();
    await page.keyboard.type("steps:");
    await page.keyboard.press("Escape");
    await page.keyboard.type("\n- id: one\ntype: set");
    // For a complete word, Enter inserts a new line instead of a completion.
    await page.locator(".cm-tooltip-autocomplete").waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await page.keyboard.type("values: { b: 2");
    const written = await linesOf(page);
    expect(written).toMatch(/^steps:\n +- id: one\n +type: set\n +values: \{ b: 2\}$/);

    // Simulates a session that was ended elsewhere.
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "You are signed out" });
    await dialog.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
    await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await linesOf(page)).toBe(written);

    await page.getByRole("button", { name: "Save", exact: true }).dblclick();
    await page.getByText("Saved as version 2").first().waitFor();
    expect(new URL(page.url()).pathname).toBe(`/ui/workflows/${id}/edit`);
    const { version } = await requestApi<{ version: number }>(ann, "GET", `/workflows/${id}`);
    expect(version).toBe(2);
  });

  it("see no data of the previous user in a tab that was left open", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    const ben = await addPerson(site, ann, "ben@example.com", "viewer");
    await requestApi(ann, "POST", "/api-keys", { name: "private key of ann" });
    const { page, visit } = await openWindow(await openBrowser(), site, ann);
    await visit("/keys");
    await page.getByText("private key of ann").first().waitFor();
    await page.context().clearCookies();
    const tab = await page.context().newPage();
    await tab.goto(`${site.url}/ui/sign-in`);
    await signIn(tab, ben.email);
    await heading(tab, "Home").waitFor();
    await page.getByRole("button", { name: `User menu of ${ben.email}` }).waitFor();
    expect(await page.getByText("private key of ann").count()).toBe(0);
  });
});
