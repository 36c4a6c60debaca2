import { expect, it } from "vitest";
import { openPage } from "../../support/browser.ts";
import { PREFIX, prefixProxy } from "../../support/prefix-proxy.ts";
import {
  chooseFromUserMenu,
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  signIn,
} from "../../support/web.ts";

it.each([true, false])(
  "The web interface works below a path of a shared host (the proxy removes the path: %s)",
  async (strips) => {
    const proxy = await prefixProxy({ strips });
    const env = { MILLRACE_BASE_URL: proxy.url, MILLRACE_MCP_URL: `${proxy.url}/mcp` };
    const opened = await openSite({ env });
    proxy.targets.web = opened.url;
    const site = { ...opened, url: proxy.url };
    expect(site.setupLink).toMatch(new RegExp(`^${proxy.url}/ui/setup#`));
    const ann = await createFirstAdmin(site);
    const definition = { steps: [{ id: "a", type: "set", values: { x: 1 } }] };
    const { id } = await requestApi(ann, "POST", "/workflows", { name: "Weekly", definition });

    const { page, problems, visit, requestedHosts } = await openWindow(await openBrowser(), site);
    // A deep link of a visitor who is not signed in.
    await visit(`/workflows/${id}`);
    await signIn(page, ann.email);
    await heading(page, "Weekly").waitFor();
    expect(new URL(page.url()).pathname).toBe(`${PREFIX}/ui/workflows/${id}`);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: "millrace_session", path: PREFIX });
    await page.reload();
    await heading(page, "Weekly").waitFor();

    // The editor loads further scripts, and the completions of definitions.
    await visit(`/workflows/${id}/edit`);
    await page.locator(".cm-content").first().waitFor();
    await visit(`/workflows/${id}/run`);
    await page.getByRole("button", { name: /^Run version/ }).click();
    await page.getByText("Succeeded").first().waitFor();
    expect(new URL(page.url()).pathname).toMatch(new RegExp(`^${PREFIX}/ui/runs/run_`));

    await visit("/connect");
    await page.getByText(`${proxy.url}/mcp`).first().waitFor();
    for (const link of [/SKILL|skill/, /reference/i]) {
      const href = await page.getByRole("link", { name: link }).first().getAttribute("href");
      expect([href, (await fetch(new URL(href!, proxy.url))).status]).toEqual([
        expect.stringMatching(new RegExp(`^${PREFIX}/`)),
        200,
      ]);
    }
    await chooseFromUserMenu(page, "Sign out");
    await heading(page, "Sign in").waitFor();
    expect(problems).toEqual([]);
    expect([...requestedHosts]).toEqual([new URL(proxy.url).host]);
    const outside = proxy.paths.filter((path) => !path.includes(` ${PREFIX}/`));
    expect(outside).toEqual([]);
  },
);

it("The reference below a path sends its calls below it", async () => {
  const proxy = await prefixProxy({ strips: true });
  const opened = await openSite({ workers: 0, env: { MILLRACE_BASE_URL: proxy.url } });
  proxy.targets.web = opened.url;
  const { page, problems } = await openPage();
  await page.goto(`${proxy.url}/apidoc`);
  await page.waitForSelector(".opblock");
  expect(page.url()).toBe(`${proxy.url}/apidoc/`);
  const block = page.locator('[id$="-health"]').first();
  await block.locator(".opblock-summary-control").click();
  await block.locator("button.execute").click();
  await block.locator(".live-responses-table .response-col_status").last().getByText("200").waitFor();
  expect(proxy.paths).toContain(`GET ${PREFIX}/health`);
  expect(problems).toEqual([]);
});
