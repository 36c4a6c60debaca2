import { describe, expect, it } from "vitest";
import {
  addPerson,
  createFirstAdmin,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
} from "../../support/web.ts";

describe("a workflow that an editor exposes as a tool, in the browser", () => {
  it("asks an admin, who sees what it reaches, allows it and withdraws it", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    const ben = await addPerson(site, ann, "ben@example.com", "editor");
    const steps = [{ id: "send", type: "http", url: "https://example.com/?n=1" }];
    await requestApi(ben, "POST", "/workflows", {
      name: "Send it",
      description: "Sends a number.",
      definition: { expose_as_tool: true, steps },
    });
    await requestApi(ben, "POST", "/workflows/send-it/publish", {});
    const browser = await openBrowser();
    const [anns, bens] = [await openWindow(browser, site, ann), await openWindow(browser, site, ben)];

    await bens.visit("/workflows/send-it");
    const banner = bens.page.getByRole("alert", { name: "Not yet a tool for agents" });
    await banner.waitFor();
    expect(await banner.innerText()).toContain("until an admin allows it");
    expect(await bens.page.getByRole("button", { name: "Allow as a tool" }).count()).toBe(0);

    await anns.visit("/workflows/send-it");
    const { page } = anns;
    await page.getByText("http GET https://example.com/?n=1", { exact: true }).waitFor();
    await takeScreenshot(page, "exposure-requested");
    await page.getByRole("button", { name: "Allow as a tool" }).click();
    await page.getByText("Allowed by ann@example.com").waitFor();
    await takeScreenshot(page, "exposure-allowed");
    await page.getByRole("button", { name: "Withdraw" }).click();
    await page.getByRole("button", { name: "Allow as a tool" }).waitFor();
    expect([...anns.problems, ...bens.problems]).toEqual([]);
  });
});
