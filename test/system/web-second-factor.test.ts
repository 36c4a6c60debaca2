/** Second factors in a real browser, with an authenticator app in this process and Chromium's virtual passkeys. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as otpauth from "otpauth";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { accessibilityIssues } from "../support/accessibility.ts";
import {
  addPerson,
  chooseFromUserMenu,
  createFirstAdmin,
  heading,
  newStateDirectory,
  openBrowser,
  openSite,
  openWindow,
  PASSWORD,
  signIn,
  takeScreenshot,
} from "../support/web.ts";

/** A state whose editors must have a second factor. */
function stateThatRequiresFactors(): string {
  const stateDir = newStateDirectory();
  const file = join(stateDir, "config.yaml");
  const config = JSON.parse(readFileSync(file, "utf8")) as object;
  const authentication = { second_factor: { required_for: ["editor"] } };
  writeFileSync(file, JSON.stringify({ ...config, authentication }));
  return stateDir;
}

/** A security key of the browser, which answers at once. */
async function plugInAuthenticator(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** Adds an authenticator app in the open dialog. @returns its recovery codes */
async function addApp(page: Page): Promise<string[]> {
  const dialog = page.getByRole("dialog", { name: "Add an authenticator app" });
  await dialog.getByRole("img", { name: "QR code for the authenticator app" }).waitFor();
  await takeScreenshot(page, "add-authenticator-app");
  expect(await accessibilityIssues(page)).toEqual([]);
  const secret = (await dialog.locator("pre").innerText()).replaceAll(" ", "");
  await dialog.getByLabel(/^Code/).fill("000000");
  await dialog.getByRole("button", { name: "Add authenticator app" }).click();
  await dialog.getByText("The code is wrong").waitFor();
  await dialog.getByLabel(/^Code/).fill(new otpauth.TOTP({ secret }).generate());
  await dialog.getByRole("button", { name: "Add authenticator app" }).click();
  const shown = page.getByRole("dialog", { name: "Recovery codes" });
  await shown.getByText("Save these recovery codes now").waitFor();
  await takeScreenshot(page, "recovery-codes");
  const codes = (await shown.locator("pre").innerText()).split("\n");
  await shown.getByRole("button", { name: "Done, I've saved them" }).click();
  return codes;
}

it("sets up an app and a passkey, signs in with the passkey and with a recovery code, and an admin resets them", async () => {
  const site = await openSite({ workers: 0, stateDir: stateThatRequiresFactors() });
  const ann = await createFirstAdmin(site);
  await addPerson(site, ann, "ben@example.com", "editor");
  const browser = await openBrowser();
  // Browsers make no passkeys for IP addresses.
  const local = { url: site.url.replace("127.0.0.1", "localhost") };
  const { page, visit, problems } = await openWindow(browser, local);
  await plugInAuthenticator(page);

  // Ben's role requires one: he sees nothing else before.
  await visit("/workflows");
  await signIn(page, "ben@example.com");
  await heading(page, "Set up a second factor").waitFor();
  await takeScreenshot(page, "required");
  expect(await accessibilityIssues(page)).toEqual([]);
  await page.getByRole("button", { name: "Add authenticator app" }).click();
  const [code] = await addApp(page);
  await heading(page, "Workflows").waitFor();

  await chooseFromUserMenu(page, "Account");
  await page.getByText("10 recovery codes are left.").waitFor();
  await page.getByRole("button", { name: "Add passkey" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a passkey" });
  await dialog.getByLabel(/^Name/).fill("Laptop");
  await dialog.getByRole("button", { name: "Add passkey" }).click();
  await page.getByRole("button", { name: "Remove Laptop" }).waitFor();
  await takeScreenshot(page, "account");
  expect(await accessibilityIssues(page)).toEqual([]);

  await chooseFromUserMenu(page, "Sign out");
  await signIn(page, "ben@example.com");
  await page.getByLabel(/^Code/).waitFor();
  await takeScreenshot(page, "second-step");
  expect(await accessibilityIssues(page)).toEqual([]);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await heading(page, "Home").waitFor();

  await chooseFromUserMenu(page, "Sign out");
  await signIn(page, "ben@example.com");
  await page.getByRole("button", { name: "Use a recovery code" }).click();
  await page.getByLabel(/^Recovery code/).fill(code!);
  // By keyboard alone.
  await page.keyboard.press("Enter");
  await heading(page, "Home").waitFor();

  // The session ends behind the page, and the dialog that continues it asks for both.
  await page.context().clearCookies();
  await chooseFromUserMenu(page, "Account");
  const again = page.getByRole("dialog", { name: "You are signed out" });
  await again.getByLabel(/^Password/).fill(PASSWORD);
  await again.getByRole("button", { name: "Sign in" }).click();
  await again.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("9 recovery codes are left.").waitFor();

  const admin = await openWindow(browser, site, ann);
  await admin.visit("/people");
  await admin.page.getByRole("button", { name: "Actions for ben@example.com" }).click();
  await admin.page.getByRole("menuitem", { name: "Reset second factors…" }).click();
  await admin.page.getByRole("button", { name: "Reset", exact: true }).click();
  await admin.page.getByText("ben@example.com signs in with the password alone now.").waitFor();
  // A wrong code and an ended session are refused with 401, which the browser logs.
  const unexpected = [...problems, ...admin.problems].filter((text) => !text.includes("status of 401"));
  expect(unexpected).toEqual([]);
});
