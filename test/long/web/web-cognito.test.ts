/** `--auth-mode cognito` in a real browser, behind a load balancer that signs users in at a real provider. */
import { expect, it, describe } from "vitest";
import type { Page } from "playwright-core";
import { mockAlb } from "../../support/mock-alb.ts";
import { type AlbProxy, albProxy } from "../../support/alb-proxy.ts";
import { testOidcProvider } from "../../support/oidc-provider.ts";
import { startProgram } from "../../support/process.ts";
import {
  chooseFromUserMenu,
  heading,
  newStateDirectory,
  openBrowser,
  openWindow,
  takeScreenshot,
  waitUntilLoaded,
} from "../../support/web.ts";

async function openSite() {
  const alb = await mockAlb();
  const provider = await testOidcProvider({
    accounts: {
      ann: { email: "ann@example.com", email_verified: true, groups: ["millrace-admin"] },
      ben: { email: "ben@example.com", email_verified: true, groups: [] },
      eve: { email: "eve@example.com", email_verified: false, groups: ["millrace-admin"] },
    },
  });
  const proxy = await albProxy(alb, provider);
  const program = await startProgram("serve", newStateDirectory(), {
    args: ["--auth-mode", "cognito", "--workers", "1"],
    env: {
      ...alb.env,
      MILLRACE_BASE_URL: proxy.url,
      MILLRACE_COGNITO_DOMAIN: proxy.poolUrl,
      MILLRACE_TRUSTED_PROXIES: "127.0.0.1",
    },
  });
  proxy.target = program.url;
  return { alb, provider, proxy, program, browser: await openBrowser() };
}

async function logIn(page: Page, proxy: AlbProxy, name: string): Promise<void> {
  await page.goto(`${proxy.url}/ui/workflows`);
  await heading(page, "The provider").waitFor();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Log in" }).click();
}

describe("a browser behind a load balancer", () => {
  it("signs in at the provider, signs out, and cannot return without the provider", async () => {
    const { proxy, program, browser } = await openSite();
    const { page, problems } = await openWindow(browser, { url: proxy.url });
    await logIn(page, proxy, "ann");
    await heading(page, "Workflows").waitFor();
    expect(page.url()).toBe(`${proxy.url}/ui/workflows`);
    await waitUntilLoaded(page);
    await takeScreenshot(page, "cognito-workflows");
    const albCookies = (await page.context().cookies()).filter(({ name }) => name.startsWith("AWSELB"));
    expect(albCookies).toHaveLength(2);

    // A key that the user creates works without the login.
    await page.goto(`${proxy.url}/ui/keys`);
    await page.getByRole("button", { name: "Create New API Key" }).first().click();
    await page.getByLabel(/^Name/).fill("past the login");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const key = await page.getByText(/^mill_\w{36}$/).innerText();
    const request = (path: string, headers: Record<string, string>) => fetch(proxy.url + path, { headers });
    expect((await request("/workflows", { "X-API-Key": key })).status).toBe(200);
    expect((await request("/workflows", {})).status).toBe(401);
    await page.keyboard.press("Escape");

    await page.goto(`${proxy.url}/ui/workflows`);
    await waitUntilLoaded(page);
    await chooseFromUserMenu(page, "Sign out");
    await page.getByRole("button", { name: "Log out" }).click();
    await heading(page, "You are signed out").waitFor();
    await takeScreenshot(page, "cognito-signed-out");
    expect((await page.context().cookies()).filter(({ name }) => name.startsWith("AWSELB"))).toEqual([]);

    // Every way back leads to the provider's login: the link, the address, and the browser's back button.
    await page.getByRole("link", { name: "Sign in again" }).click();
    await heading(page, "The provider").waitFor();
    await page.goto(`${proxy.url}/ui/workflows`);
    await heading(page, "The provider").waitFor();
    await page.goBack();
    await page.goBack();
    expect(await page.getByText("ann@example.com").count()).toBe(0);

    // The previous cookies of the load balancer do not help either, although the load balancer still accepts them.
    await page.context().addCookies(albCookies);
    const again = await page.request.get(`${proxy.url}/session`);
    expect(again.status()).toBe(401);
    expect((await again.json()).detail).toMatch(/sign-in has ended/);
    await page.goto(`${proxy.url}/ui/workflows`);
    await heading(page, "You are not signed in").waitFor();
    await takeScreenshot(page, "cognito-ended");
    expect(program.log()).not.toMatch(/eyJ[\w-]{20,}/);
    // The provider has no favicon, and some requests are refused on purpose.
    expect(problems.filter((text) => !/favicon|40[13]/.test(text))).toEqual([]);
  });

  it("derives the role from the groups, and refuses users without a verified address", async () => {
    const { proxy, browser } = await openSite();
    const ben = await openWindow(browser, { url: proxy.url });
    await logIn(ben.page, proxy, "ben");
    await heading(ben.page, "Workflows").waitFor();
    const session = await (await ben.page.request.get(`${proxy.url}/session`)).json();
    expect(session).toMatchObject({ mode: "cognito", user: { email: "ben@example.com", role: "viewer" } });
    const eve = await openWindow(browser, { url: proxy.url });
    await logIn(eve.page, proxy, "eve");
    await eve.page.getByText(/not verified/).waitFor();
    await takeScreenshot(eve.page, "cognito-refused");
    expect((await (await ben.page.request.get(`${proxy.url}/session`)).json()).user.role).toBe("viewer");
  });
});
