import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { accessibilityIssues } from "../support/accessibility.ts";
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

const ACCOUNTS = {
  ann: { email: "ann@example.com", email_verified: true, groups: ["millrace-admin"] },
  ben: { email: "ben@example.com", email_verified: true, groups: ["millrace-editor"] },
  kim: { email: "kim@example.com", email_verified: false, groups: ["millrace-editor"] },
};

/** A server at `localhost` and its provider at `127.0.0.1`, so that they are different sites, as in production. */
async function openSite() {
  const peer = await testOidcProvider({ accounts: ACCOUNTS });
  const args = ["--host", "localhost", "--workers", "0", "--auth-mode", "oidc"];
  const program = await startProgram("serve", newStateDirectory(), { args, env: peer.env });
  const url = program.url.replace("127.0.0.1", "localhost");
  const opened = await openWindow(await openBrowser(), { url });
  /** Problems of our own pages, without those of the provider. */
  const complaints = () => opened.problems.filter((text) => text.startsWith(url));
  return { ...opened, url, complaints };
}

const signInButton = (page: Page) => page.getByRole("link", { name: "Sign in", exact: true });

/** Logs in at the provider's own form, which is shown. */
async function logIn(page: Page, name: string): Promise<void> {
  await heading(page, "The provider").waitFor();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Log in" }).click();
}

describe("users who sign in at a provider on another site", () => {
  it("return to the requested page, sign out, and cannot return without the provider", async () => {
    const { page, visit, url, complaints } = await openSite();
    await visit("/people");
    await heading(page, "Sign in").waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await takeScreenshot(page, "oidc-sign-in");
    await signInButton(page).click();
    await logIn(page, "ann");
    await heading(page, "People").waitFor();
    await waitUntilLoaded(page);
    expect(new URL(page.url()).href).toBe(`${url}/ui/people`);
    expect(await page.getByRole("button", { name: "Invite user" }).count()).toBe(0);
    expect(await page.getByRole("combobox", { name: "Role of ann@example.com" }).isDisabled()).toBe(true);
    await page.getByText("role set by the identity provider").waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await takeScreenshot(page, "oidc-people");
    await page.getByRole("button", { name: "Actions for ann@example.com" }).click();
    expect(await page.getByRole("menuitem").allInnerTexts()).toEqual(["Deactivate…"]);
    await page.keyboard.press("Escape");
    await chooseFromUserMenu(page, "Account");
    await heading(page, "Account").waitFor();
    await waitUntilLoaded(page);
    await page.getByText("You sign in at your organisation's identity provider").waitFor();
    expect(await page.getByLabel(/password/i).count()).toBe(0);
    expect(await accessibilityIssues(page)).toEqual([]);
    await takeScreenshot(page, "oidc-account");

    await chooseFromUserMenu(page, "Sign out");
    await page.getByText("You are signed out.").waitFor();
    expect(new URL(page.url()).href).toBe(`${url}/ui/sign-in?signed_out=1`);
    expect(await accessibilityIssues(page)).toEqual([]);
    await takeScreenshot(page, "oidc-signed-out");
    for (let back = 0; back < 3; back += 1) {
      await page.goBack();
      await page.waitForLoadState();
      expect(await page.getByText("ann@example.com").count()).toBe(0);
    }
    await visit("/people");
    await heading(page, "Sign in").waitFor();
    await signInButton(page).click();
    await heading(page, "The provider").waitFor();
    expect(complaints()).toEqual([]);
  });

  it("see why access is refused, and can use another account", async () => {
    const { page, visit } = await openSite();
    await visit("/");
    await signInButton(page).click();
    await logIn(page, "kim");
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").innerText()).toContain(
      "Your e-mail address isn't verified at the identity provider.",
    );
    expect(await accessibilityIssues(page)).toEqual([]);
    await takeScreenshot(page, "oidc-refused");
    await page.getByRole("link", { name: /to use another account$/ }).click();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByText("You are signed out.").waitFor();
    await signInButton(page).click();
    await logIn(page, "ben");
    await heading(page, "Home").waitFor();
    await page.getByRole("button", { name: "User menu of ben@example.com" }).waitFor();
    expect(await page.getByRole("link", { name: "People" }).count()).toBe(0);
  });

  it("sign in again in another tab when their session ends, and lose no input", async () => {
    const { page, visit, complaints } = await openSite();
    await visit("/workflows/new");
    await signInButton(page).click();
    await logIn(page, "ben");
    const compared = page.waitForResponse((response) => response.url().includes("search=written"));
    await page.getByRole("textbox", { name: "Name" }).fill("Written before");
    // Otherwise this request notices the end of the session before the click.
    await compared;
    // Simulates a session that was ended elsewhere; the session at the provider is still active.
    await page.context().clearCookies({ domain: "localhost" });
    await page.getByRole("button", { name: "Create and edit" }).click();
    const dialog = page.getByRole("dialog", { name: "You are signed out" });
    await dialog.waitFor();
    await takeScreenshot(page, "oidc-signed-out-while-writing");
    expect(await accessibilityIssues(page)).toEqual([]);
    const opening = page.context().waitForEvent("page");
    await dialog.getByRole("link", { name: "Sign in" }).click();
    await opening;
    await dialog.waitFor({ state: "detached" });
    expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("Written before");
    await page.getByRole("button", { name: "Create and edit" }).click();
    await page.waitForURL(/\/ui\/workflows\/written-before/);
    expect(complaints().filter((text) => !/status of 401/.test(text))).toEqual([]);
  });
});
