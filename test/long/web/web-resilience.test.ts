import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { startProgram } from "../../support/process.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";
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
  takeScreenshot,
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

describe("a server that is away for a while", () => {
  const WAITS = { steps: [{ id: "pause", type: "wait", for: "1h" }] };

  /** A site behind a proxy whose address stays the same when the server starts again, with a schedule and a waiting run. */
  async function open() {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    const schedule = { cron: "0 6 * * *" };
    await requestApi(ann, "POST", "/workflows", { name: "Daily", definition: { ...WAITS, schedule } });
    await requestApi(ann, "POST", "/workflows/daily/publish", {});
    const { id } = await requestApi(ann, "POST", "/workflows/daily/runs", {});
    const proxy = await tcpProxy(Number(new URL(site.url).port));
    const url = `http://127.0.0.1:${proxy.port}`;
    const { page, visit } = await openWindow(await openBrowser(), { url }, ann);
    return {
      page,
      visit,
      runId: id,
      alerts: page.getByRole("alert"),
      stop: () => site.program.stop("SIGKILL"),
      restart: async () => {
        const again = await startProgram("serve", site.stateDir, { args: ["--workers", "1"] });
        proxy.switchTo(Number(new URL(again.url).port));
      },
    };
  }

  it("is reported once on the home page, whose cards keep their data and recover", async () => {
    const { page, visit, alerts, stop, restart } = await open();
    const upcoming = page.locator(".mantine-Card-root").filter({ hasText: "Upcoming" });
    await page.route(/\/schedules\?/, (route) => route.abort());
    await visit("/");
    // A single request that fails is an error of its card.
    await upcoming.getByRole("alert").waitFor();
    expect(await alerts.count()).toBe(1);
    await stop();
    await page.getByRole("region", { name: "Connection" }).waitFor();
    expect(await alerts.allTextContents()).toEqual(["The server can't be reached."]);
    await upcoming.getByText("Not loaded.").waitFor();
    expect(await page.getByText("Not loaded.").count()).toBe(1);
    await page.getByRole("link", { name: "daily" }).first().waitFor();
    await takeScreenshot(page, "away-home");
    await page.setViewportSize({ width: 390, height: 900 });
    await takeScreenshot(page, "away-home-390");
    await page.setViewportSize({ width: 1_280, height: 900 });

    await page.unroute(/\/schedules\?/);
    await restart();
    await alerts.waitFor({ state: "detached" });
    await upcoming.getByRole("link", { name: "daily" }).waitFor();
    expect(await page.getByText("Not loaded.").count()).toBe(0);
  });

  it("stops the clock of a run and turns off what needs the server, until its stream is open again", async () => {
    const { page, visit, runId, alerts, stop, restart } = await open();
    await visit(`/runs/${runId}`);
    await page.getByText("Live", { exact: true }).waitFor();
    const cancel = page.getByRole("button", { name: "Cancel", exact: true });
    expect(await cancel.isEnabled()).toBe(true);
    await stop();
    await alerts.waitFor();
    expect(await alerts.allTextContents()).toEqual(["The server can't be reached."]);
    await takeScreenshot(page, "away-run");
    expect(await cancel.isDisabled()).toBe(true);
    expect(await cancel.getAttribute("title")).toBe("The server can't be reached");
    expect(await page.getByText("Reconnecting…").count()).toBe(0);
    const elapsed = page.locator("dt:has-text('Elapsed') + dd");
    const before = await elapsed.innerText();
    // Between two probes there are at least two seconds.
    for (const _ of [1, 2]) await page.waitForRequest(/\/health$/);
    expect(await elapsed.innerText()).toBe(before);
    const probe = page.waitForRequest(/\/health$/);
    await page.getByRole("button", { name: "Try now" }).click();
    await probe;

    await restart();
    await alerts.waitFor({ state: "detached" });
    await page.getByText("Live", { exact: true }).waitFor();
    await cancel.click();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await page.getByText("Run cancelled").waitFor();
  });

  it("takes nothing that was typed, and does nothing later that was refused", async () => {
    const { page, visit, alerts, stop, restart } = await open();
    await visit("/workflows/daily/edit");
    await page.locator(".cm-content").first().click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("output: Done");
    await page.keyboard.press("Escape");
    const save = page.getByRole("button", { name: "Save", exact: true });
    await stop();
    // The keyboard shortcut finds no server, and the button is off from then on.
    await page.keyboard.press("Control+s");
    await alerts.filter({ hasText: "The server can't be reached." }).first().waitFor();
    const written = await linesOf(page);
    expect(written).toContain("output: Done");
    expect(await save.isDisabled()).toBe(true);
    await restart();
    await page.getByRole("region", { name: "Connection" }).waitFor({ state: "detached" });
    expect(await linesOf(page)).toBe(written);
    await page.getByText("Version 1").first().waitFor();
    await save.click();
    await page.getByText("Saved as version 2").first().waitFor();
  });
});
