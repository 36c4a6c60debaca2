import { describe, expect, it } from "vitest";
import {
  addPerson,
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
} from "../../support/web.ts";

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 400, height: 800 };

const definition = (value: number) => ({ steps: [{ id: "s", type: "set", values: { value } }] });

describe("what a key changed, in the browser", () => {
  it("is listed with what a revert does, reverted after a confirmation, and empty afterwards", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    const ben = await addPerson(site, ann, "ben@example.com", "editor");
    for (const name of ["Weekly revenue", "Open orders", "Late payments"]) {
      await requestApi(ben, "POST", "/workflows", { name, definition: definition(1) });
    }
    await requestApi(ben, "POST", "/workflows/weekly-revenue/publish", {});
    const key = await requestApi<{ id: string; value: string }>(ben, "POST", "/api-keys", { name: "agent" });
    const byKey = async (method: string, path: string, body?: object) => {
      const response = await fetch(site.url + path, {
        method,
        headers: { "X-API-Key": key.value, "Content-Type": "application/json", "User-Agent": "agent/1" },
        ...(body && { body: JSON.stringify(body) }),
      });
      expect(response.ok).toBe(true);
    };
    for (const value of [2, 3])
      await byKey("PATCH", "/workflows/weekly-revenue", { definition: definition(value) });
    await byKey("POST", "/workflows/weekly-revenue/publish", {});
    await byKey("POST", "/workflows/weekly-revenue/runs", { wait: 0 });
    await byKey("POST", "/workflows", { name: "Copy of everything" });
    await byKey("DELETE", "/workflows/open-orders");
    await byKey("PATCH", "/workflows/late-payments", { definition: definition(2) });
    await requestApi(ann, "PATCH", "/workflows/late-payments", { description: "Ann's." });

    const { page, visit, problems } = await openWindow(await openBrowser(), site, ben);
    await page.setViewportSize(WIDE);
    await visit("/keys");
    await page.getByRole("button", { name: "Actions for the key agent" }).filter({ visible: true }).click();
    await page.getByRole("menuitem", { name: "Changes" }).click();
    await heading(page, 'Changes by the key "agent"').waitFor();
    await page.getByText("version 1 is published again").waitFor();
    await page.getByText("ann@example.com (browser) changed it").waitFor();
    await page.getByText("started runs: run_").waitFor();
    await takeScreenshot(page, "key-changes-wide");
    await page.setViewportSize(NARROW);
    await visit(`/keys/${key.id}/changes`);
    await page.getByText("version 1 is published again").waitFor();
    await takeScreenshot(page, "key-changes-narrow");

    await page.getByRole("checkbox", { name: "Revert Copy of everything" }).uncheck();
    await page.getByRole("button", { name: "Revert 2 workflows" }).click();
    const dialog = page.getByRole("dialog", { name: "Revert 2 workflows?" });
    await dialog.waitFor();
    await takeScreenshot(page, "key-changes-confirm");
    await dialog.getByRole("button", { name: "Revert" }).click();
    await page.getByText("2 workflows reverted").waitFor();
    await takeScreenshot(page, "key-changes-result");
    const workflow = (id: string) =>
      requestApi<Record<string, unknown>>(ben, "GET", `/workflows/${id}`, undefined);
    expect(await workflow("weekly-revenue")).toMatchObject({
      definition: definition(1),
      published_version: 1,
      version: 4,
    });
    expect(await workflow("open-orders")).toMatchObject({ status: "draft" });
    expect(await workflow("copy-of-everything")).toMatchObject({ status: "draft" });

    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("Copy of everything").waitFor();
    await page.getByText("What the runs did outside of Millrace stays").waitFor();
    expect(await page.getByText("Weekly revenue").count()).toBe(0);
    await page.getByRole("button", { name: "Revert 1 workflow" }).waitFor();
    expect(problems).toEqual([]);
  });
});
