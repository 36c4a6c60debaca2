import { describe, expect, it } from "vitest";
import { VERSION } from "../../src/app/build.ts";
import { openPage } from "../support/browser.ts";
import { openRest } from "../support/rest.ts";

describe("/apidoc in a browser", () => {
  it("accepts a key and sends calls, without requests to other hosts and without console errors", async () => {
    const { url, key, call } = await openRest();
    const { page, problems, requestedHosts } = await openPage();
    await page.goto(`${url}/apidoc`);
    await page.waitForSelector(".opblock");
    expect(page.url()).toBe(`${url}/apidoc/`);
    expect(await page.textContent(".info .title")).toContain(VERSION);

    await page.click("button.authorize");
    await page.fill(
      '.auth-container input[aria-label="auth-api-key"], .auth-container input[type="text"]',
      key,
    );
    await page.click('.auth-btn-wrapper button:has-text("Authorize")');
    await page.click('.auth-btn-wrapper button:has-text("Close")');

    const execute = async (operation: string): Promise<{ status: string; body: string }> => {
      const block = page.locator(`[id="operations-Workflows-${operation}"]`);
      await block.locator(".opblock-summary-control").click();
      await block.locator("button.execute").click();
      const live = block.locator(".live-responses-table");
      await live.waitFor();
      return {
        status: (await live.locator(".response-col_status").last().innerText()).trim(),
        body: await live.locator(".response-col_description").last().innerText(),
      };
    };
    const created = await execute("create_workflow");
    expect(created.status).toMatch(/^201/);
    expect(created.body).toContain("weekly-revenue");
    const listed = await execute("list_workflows");
    expect(listed.status).toMatch(/^200/);
    // No filter was filled in.
    expect(listed.body).toContain("weekly-revenue");
    const changed = await execute("update_workflow");
    expect(changed.status).toMatch(/^200/);
    const picture = process.env["SCREENSHOT"];
    if (picture !== undefined) await page.screenshot({ path: picture, fullPage: true });

    // The call of the page took effect.
    expect((await call("GET", "/workflows")).body).toMatchObject([{ name: "Weekly revenue" }]);
    expect([...requestedHosts]).toEqual([new URL(url).host]);
    expect(problems).toEqual([]);

    await page.fill(".operation-filter-input", "Approvals");
    await page.locator('[id="operations-tag-Workflows"]').waitFor({ state: "detached" });
    expect(await page.locator('[id="operations-tag-Approvals"]').isVisible()).toBe(true);
  });

  it("offers the document for download", async () => {
    const { url } = await openRest();
    const { page } = await openPage();
    await page.goto(`${url}/apidoc/`);
    await page.waitForSelector(".opblock");
    const links = await page
      .locator("a[href]")
      .evaluateAll((all) => all.map((link) => (link as { href?: string }).href));
    expect(links).toEqual(
      expect.arrayContaining([`${url}/apidoc/openapi.json`, `${url}/apidoc/openapi.yaml`, `${url}/ui/`]),
    );
  });
});
