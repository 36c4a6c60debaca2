import { expect, it } from "vitest";
import { accessibilityIssues } from "../support/accessibility.ts";
import { apiClient } from "../support/http.ts";
import {
  addPerson,
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
} from "../support/web.ts";

const DEFINITION = {
  inputs: { type: "object", properties: { ref: { type: "string" } }, required: ["ref"] },
  triggers: [
    {
      id: "pushed",
      type: "webhook",
      payload: { type: "object", properties: { ref: { type: "string" } }, required: ["ref"] },
      inputs: { ref: "${{ event.body.ref }}" },
      deduplicate: "event.body.ref",
    },
  ],
  must_succeed: { every: "26h" },
  steps: [{ id: "kept", type: "set", values: { ref: "${{ inputs.ref }}" } }],
};

it("shows the URL of a webhook, what it received, and delivers it again", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const eve = await addPerson(site, ann, "eve@example.com", "viewer");
  await requestApi(ann, "POST", "/workflows", { name: "On push", definition: DEFINITION });
  await requestApi(ann, "POST", "/workflows/on-push/publish", {});
  const browser = await openBrowser();
  const { page, visit } = await openWindow(browser, site, ann);
  await visit("/workflows/on-push");
  const starts = page.getByRole("list", { name: "Starts" });
  await starts.getByText("Must succeed every 26h").waitFor();
  await page.getByRole("button", { name: "pushed, webhook, starts runs" }).click();
  await page.getByText("deduplicate: event.body.ref").waitFor();
  const panel = page.getByRole("region", { name: "Webhooks" });
  const url = (await panel.locator("pre").textContent())!;
  expect(url).toMatch(/\/hooks\/trg_/);
  const send = apiClient(site.url);
  const path = new URL(url).pathname;
  for (const body of [{ ref: "main" }, { ref: "main" }, { ref: 1 }]) await send("POST", path, body);
  await visit("/workflows/on-push");
  const table = panel.getByRole("table", { name: "Recent deliveries" });
  await table.getByText("Started a run").waitFor();
  await table.getByText("sent twice").waitFor();
  await table.getByText(/body\.ref/).waitFor();
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await takeScreenshot(page, `webhooks-${scheme}-${width}`);
      expect(await accessibilityIssues(page)).toEqual([]);
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await table.getByRole("row").filter({ hasText: "Started a run" }).getByRole("button").click();
  const dialog = page.getByRole("dialog", { name: "Delivery" });
  await dialog.getByText("main").first().waitFor();
  await takeScreenshot(page, "webhooks-delivery");
  await dialog.getByRole("button", { name: "Deliver again" }).click();
  await dialog.waitFor({ state: "detached" });
  await table.getByRole("row").nth(3).waitFor();
  // The redelivery and the original lead to each other.
  await table.getByText("delivered again").waitFor();
  const again = table.getByRole("row").filter({ hasText: "Redelivery of" });
  await again.getByRole("button", { name: /^trd_/ }).click();
  await dialog.getByText("Delivered again as").getByRole("button", { name: /^trd_/ }).click();
  await dialog.getByText("Redelivery of").waitFor();
  await takeScreenshot(page, "webhooks-redelivery");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  // The run shows what started it, and leads back to the delivery.
  await table.getByRole("link", { name: /^run_/ }).first().click();
  // The graph of the workflow has a button of the same name.
  await heading(page, /^Run of /).waitFor();
  await page.getByRole("button", { name: "pushed, webhook, starts runs" }).click();
  await page.getByRole("heading", { name: "Started by: Webhook" }).waitFor();
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await takeScreenshot(page, `webhook-run-${scheme}`);
    expect(await accessibilityIssues(page)).toEqual([]);
  }
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.getByText(/^Started by: Webhook, delivery trd_\S+ to pushed/).waitFor();
  await page.getByRole("link", { name: /^trd_/ }).first().click();
  await dialog.getByText("main").first().waitFor();
  const viewer = await openWindow(browser, site, eve);
  await viewer.visit("/workflows/on-push");
  const theirs = viewer.page.getByRole("region", { name: "Webhooks" });
  await theirs.getByText("Only those who may change the workflow see the URL.").waitFor();
  expect(await theirs.getByRole("button", { name: "Replace URL" }).count()).toBe(0);
});
