import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { accessibilityIssues } from "../support/accessibility.ts";
import { eventReceiver, verify } from "../support/subscriptions.ts";
import {
  createFirstAdmin,
  heading,
  newStateDirectory,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
} from "../support/web.ts";

async function openSiteFor(host: string) {
  const stateDir = newStateDirectory();
  const config = {
    databases: [{ name: "shop", type: "sqlite", dataset: "samples/shop.db" }],
    http: { allowed_hosts: [host] },
  };
  writeFileSync(join(stateDir, "config.yaml"), JSON.stringify(config));
  const site = await openSite({ stateDir });
  return { site, ann: await createFirstAdmin(site) };
}

describe("the page Notifications", () => {
  it("creates a subscription, shows its secret once, sends a test, and sends a delivery again", async () => {
    const receiver = await eventReceiver((response) => response.writeHead(200).end("thank you"));
    const { site, ann } = await openSiteFor(receiver.host);
    const { page, visit, problems } = await openWindow(await openBrowser(), site, ann);
    await visit("/");
    await page.getByRole("link", { name: "Notifications" }).click();
    await heading(page, "Notifications").waitFor();
    await takeScreenshot(page, "notifications-empty");
    await page.getByRole("button", { name: "New subscription" }).click();
    const form = page.getByRole("dialog", { name: "New subscription" });
    await form.getByLabel("Name").fill("Alerts");
    await form.getByRole("textbox", { name: "URL" }).fill("http://10.0.0.1/");
    await form.getByRole("button", { name: "Create" }).click();
    await form
      .getByText(/private|not allowed/i)
      .first()
      .waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await takeScreenshot(page, "notifications-form");
    await form.getByRole("textbox", { name: "URL" }).fill(receiver.url);
    await form.getByRole("button", { name: "Create" }).click();
    const dialog = page.getByRole("dialog", { name: /Signing secret/ });
    const secret = (await dialog.locator("pre").textContent())!;
    expect(secret).toMatch(/^whsec_/);
    await dialog.getByRole("button", { name: /saved it/ }).click();
    await page.getByRole("button", { name: "Send test: Alerts" }).click();
    const row = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem").first();
    await row.getByText("delivered", { exact: true }).waitFor();
    await row.getByText("thank you").waitFor();
    await row.getByRole("button", { name: /^Send again/ }).click();
    await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(2);
    const ids = receiver.received.map(({ headers, body }) => {
      verify(secret, headers, body);
      return headers["webhook-id"];
    });
    expect(new Set(ids).size).toBe(1);
    await page.getByRole("button", { name: "Edit: Alerts" }).click();
    const edited = page.getByRole("dialog", { name: "Edit “Alerts”" });
    expect(await edited.getByRole("textbox", { name: "URL" }).inputValue()).toBe(receiver.url);
    await edited.getByLabel("Workflows (optional)").fill("unknown");
    await edited.getByLabel("Workflows (optional)").press("Enter");
    await edited.getByRole("button", { name: "Save" }).click();
    await edited.getByText(/^Is not the id of a workflow/).waitFor();
    await edited.getByLabel("Workflows (optional)").press("Backspace");
    await edited.getByLabel("Name").fill("Alerts of the night");
    await edited.getByRole("checkbox", { name: /A run succeeded/ }).check();
    await edited.getByLabel("Tags (optional)").fill("nightly");
    await edited.getByLabel("Tags (optional)").press("Enter");
    expect(await accessibilityIssues(page)).toEqual([]);
    await takeScreenshot(page, "notifications-edit");
    await edited.getByRole("button", { name: "Save" }).click();
    await edited.waitFor({ state: "detached" });
    await page.getByText(/A run succeeded.*only tags nightly/).waitFor();
    await page.getByRole("button", { name: "Pause: Alerts of the night" }).click();
    await page.getByText(/^Paused by /).waitFor();
    expect(problems.filter((problem) => !/status of 400/.test(problem))).toEqual([]);
  });

  it("is accessible and fits in light and dark, on a desk and on a phone, with an overdue workflow", async () => {
    const receiver = await eventReceiver((response) => response.writeHead(500).end("no"));
    const { site, ann } = await openSiteFor(receiver.host);
    const definition = { steps: [{ id: "a", type: "set", values: { a: 1 } }], must_succeed: { every: "1m" } };
    await requestApi(ann, "POST", "/workflows", { name: "Nightly sync", definition });
    await requestApi(ann, "POST", "/workflows/nightly-sync/publish", {});
    // The home page of an instance with runs.
    await requestApi(ann, "POST", "/workflows", {
      name: "Other",
      definition: { steps: [{ id: "a", type: "set", values: { a: 1 } }] },
    });
    await requestApi(ann, "POST", "/workflows/other/runs", { wait: 30 });
    const { id } = await requestApi(ann, "POST", "/subscriptions", {
      name: "Alerts of the night",
      url: receiver.url,
      events: ["run.failed", "workflow.overdue"],
      tags: ["nightly"],
    });
    await requestApi(ann, "POST", `/subscriptions/${id}/test`, {});
    const overdue = async () =>
      (await requestApi<{ items: unknown[] }>(ann, "GET", "/overdue-workflows")).items.length;
    await expect.poll(overdue, { timeout: 100_000, interval: 500 }).toBe(1);
    const browser = await openBrowser();
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [1440, 390]) {
        const { page, visit } = await openWindow(browser, site, ann, {
          colorScheme,
          viewport: { width, height: 900 },
        });
        for (const [path, name] of [
          ["/notifications", "notifications"],
          ["/workflows", "overdue-list"],
          ["/workflows/nightly-sync", "overdue-workflow"],
          ["/", "overdue-home"],
        ] as const) {
          await visit(path);
          await page
            .getByText(path === "/notifications" ? "The receiver answered 500." : /overdue/i)
            .first()
            .waitFor();
          expect({ name, violations: await accessibilityIssues(page) }).toEqual({ name, violations: [] });
          const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
          expect({ name, width, overflow }).toEqual({ name, width, overflow: 0 });
          await takeScreenshot(page, `${name}-${colorScheme}-${width}`);
        }
      }
  });
});
