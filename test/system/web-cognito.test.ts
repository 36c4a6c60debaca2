/** `--auth-mode cognito` in a real browser: a load balancer in front, a real provider behind its login. */
import { expect, it, describe } from "vitest";
import type { Page } from "playwright-core";
import { mockAlb } from "../support/mock-alb.ts";
import { type AlbProxy, albProxy } from "../support/alb-proxy.ts";
import { testOidcProvider } from "../support/oidc-provider.ts";
import { startProgram } from "../support/process.ts";
import {
  chooseFromUserMenu,
  heading,
  newStateDirectory,
  openBrowser,
  openWindow,
  takeScreenshot,
  waitUntilLoaded,
} from "../support/web.ts";

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
  it("comes in by the provider's login, works, signs out, and cannot get back in without it", async () => {
    const { proxy, program, browser } = await openSite();
    const { page, problems } = await openWindow(browser, { url: proxy.url });
    await logIn(page, proxy, "ann");
    await heading(page, "Workflows").waitFor();
    expect(page.url()).toBe(`${proxy.url}/ui/workflows`);
    await waitUntilLoaded(page);
    await takeScreenshot(page, "cognito-workflows");
    const kept = (await page.context().cookies()).filter(({ name }) => name.startsWith("AWSELB"));
    expect(kept).toHaveLength(2);

    // What she makes is hers, and her key works past the login.
    await page.goto(`${proxy.url}/ui/keys`);
    await page.getByRole("button", { name: "Create New API Key" }).click();
    await page.getByLabel(/^Name/).fill("past the login");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const key = await page.getByText(/^mill_\w{36}$/).innerText();
    const asked = (path: string, headers: Record<string, string>) => fetch(proxy.url + path, { headers });
    expect((await asked("/workflows", { "X-API-Key": key })).status).toBe(200);
    expect((await asked("/workflows", {})).status).toBe(401);
    await page.keyboard.press("Escape");

    await page.goto(`${proxy.url}/ui/workflows`);
    await waitUntilLoaded(page);
    await chooseFromUserMenu(page, "Sign out");
    await page.getByRole("button", { name: "Log out" }).click();
    await heading(page, "You are signed out").waitFor();
    await takeScreenshot(page, "cognito-signed-out");
    expect((await page.context().cookies()).filter(({ name }) => name.startsWith("AWSELB"))).toEqual([]);

    // The way back is the provider's login again: by the link, by the address, by the browser's own way back.
    await page.getByRole("link", { name: "Sign in again" }).click();
    await heading(page, "The provider").waitFor();
    await page.goto(`${proxy.url}/ui/workflows`);
    await heading(page, "The provider").waitFor();
    await page.goBack();
    await page.goBack();
    expect(await page.getByText("ann@example.com").count()).toBe(0);

    // Not even with the load balancer's cookies of before, which it itself would still take.
    await page.context().addCookies(kept);
    const again = await page.request.get(`${proxy.url}/session`);
    expect(again.status()).toBe(401);
    expect((await again.json()).detail).toMatch(/sign-on has ended/);
    await page.goto(`${proxy.url}/ui/workflows`);
    await heading(page, "You are not signed in").waitFor();
    await takeScreenshot(page, "cognito-ended");
    expect(program.log()).not.toMatch(/eyJ[\w-]{20,}/);
    // What the provider lacks, and what is refused on purpose.
    expect(problems.filter((text) => !/favicon|40[13]/.test(text))).toEqual([]);
  });

  it("gives the role of the groups, and keeps out who has no verified address", async () => {
    const { proxy, browser } = await openSite();
    const ben = await openWindow(browser, { url: proxy.url });
    await logIn(ben.page, proxy, "ben");
    await heading(ben.page, "Workflows").waitFor();
    const told = await (await ben.page.request.get(`${proxy.url}/session`)).json();
    expect(told).toMatchObject({ mode: "cognito", user: { email: "ben@example.com", role: "viewer" } });
    const eve = await openWindow(browser, { url: proxy.url });
    await logIn(eve.page, proxy, "eve");
    await eve.page.getByText(/not verified/).waitFor();
    await takeScreenshot(eve.page, "cognito-refused");
    expect((await (await ben.page.request.get(`${proxy.url}/session`)).json()).user.role).toBe("viewer");
  });
});
