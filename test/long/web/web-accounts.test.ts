import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  addPerson,
  requestApi,
  selectOption,
  createFirstAdmin,
  chooseFromUserMenu,
  heading,
  newStateDirectory,
  openBrowser,
  openSite,
  openWindow,
  PASSWORD,
  signIn,
} from "../../support/web.ts";

const run = promisify(execFile);

/** Runs a command line in a shell. @returns its standard output */
const runInShell = async (line: string): Promise<string> => (await run("sh", ["-c", line])).stdout;

/** @returns the HTTP status that curl gets for `GET /workflows` with a key */
const statusWithKey = async (url: string, key: string): Promise<string> =>
  (
    await run("curl", [
      "-s",
      "-o",
      "/dev/null",
      "-w",
      "%{http_code}",
      "-H",
      `X-API-Key: ${key}`,
      `${url}/workflows`,
    ])
  ).stdout;

/** Copies a snippet with its button, and checks that the clipboard has the text that the page shows. */
async function copySnippet(page: Page, label: string): Promise<string> {
  const button = page.getByRole("button", { name: `Copy ${label}`, exact: true });
  await button.click();
  const text = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(await page.locator("pre").allInnerTexts()).toContain(text);
  return text;
}

const WITH_CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

async function createAccount(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel(/^Password/).fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
}

describe("the first visit", () => {
  it("leads from the printed link to a key that curl uses, shown once, rotated and revoked", async () => {
    const site = await openSite({ workers: 0 });
    const browser = await openBrowser();
    const { page, problems, requestedHosts } = await openWindow(browser, site, undefined, WITH_CLIPBOARD);
    await page.goto(site.setupLink);
    await heading(page, "Create your admin account").waitFor();
    await page.getByLabel(/^Password/).fill("Password1234");
    await page.getByText(/^Strength: (very weak|weak|fair)\.$/).waitFor();
    await page.getByLabel(/^Password/).fill(PASSWORD);
    await page.getByText("Strength: strong.").waitFor();
    await createAccount(page, "ann@example.com");
    await heading(page, "Home").waitFor();

    await chooseFromUserMenu(page, "API Keys");
    await heading(page, "API Keys").waitFor();
    await page.getByText("You have no keys").waitFor();
    await page.getByRole("button", { name: "Create New API Key" }).first().click();
    const form = page.getByRole("dialog", { name: "Create New API Key" });
    await form.getByLabel(/^Name/).fill("ci");
    await selectOption(page, form.getByRole("combobox", { name: "Expiration date" }), "In 30 days");
    await form.getByRole("button", { name: "Create", exact: true }).click();
    const newKey = page.getByRole("dialog", { name: 'API key "ci"' });
    const key = await copySnippet(page, "API key");
    expect(key).toMatch(/^mill_\w{30,}$/);
    // The command works when it is pasted into a shell.
    expect(JSON.parse(await runInShell(await copySnippet(page, "curl command")))).toEqual([]);
    await newKey.getByRole("button", { name: "Done, I've saved it" }).click();

    const row = page.getByRole("row", { name: /^ci / });
    await row.getByText(`…${key.slice(-4)}`, { exact: true }).waitFor();
    expect(await row.innerText()).toMatch(/in (29|30) days/);
    expect(await page.content()).not.toContain(key);
    await page.reload();
    await row.waitFor();
    expect(await page.content()).not.toContain(key);

    await page.getByRole("button", { name: "Actions for the key ci" }).click();
    await page.getByRole("menuitem", { name: "Rotate…" }).click();
    const rotation = page.getByRole("dialog", { name: 'Rotate the key "ci"' });
    await selectOption(page, rotation.getByRole("combobox"), "1 hour");
    await rotation.getByRole("button", { name: "Rotate" }).click();
    const successor = await copySnippet(page, "API key");
    expect(successor).not.toBe(key);
    await page.getByRole("button", { name: "Done, I've saved it" }).click();
    // Both keys work during the overlap.
    expect(await Promise.all([key, successor].map((value) => statusWithKey(site.url, value)))).toEqual([
      "200",
      "200",
    ]);

    const old = page.getByRole("row").filter({ hasText: `…${key.slice(-4)}` });
    await old.getByText("expires soon").waitFor();
    await old.getByRole("button", { name: "Actions for the key ci" }).click();
    await page.getByRole("menuitem", { name: "Revoke…" }).click();
    const confirmation = page.getByRole("dialog", { name: 'Revoke the key "ci"?' });
    expect(await confirmation.innerText()).toContain(`ends in ${key.slice(-4)}`);
    await confirmation.getByRole("button", { name: "Revoke" }).click();
    await old.getByText("revoked").waitFor();
    expect(await statusWithKey(site.url, key)).toBe("401");
    expect(await statusWithKey(site.url, successor)).toBe("200");
    expect([...requestedHosts]).toEqual([new URL(site.url).host]);
    expect(problems).toEqual([]);
  });

  it("lets one of three concurrent setups through three processes win, and shows the others an error", async () => {
    const stateDir = newStateDirectory();
    const sites = await Promise.all([1, 2, 3].map(() => openSite({ stateDir, workers: 0 })));
    const browser = await openBrowser();
    const windows = await Promise.all(sites.map((site) => openWindow(browser, site)));
    const buttons = windows.map(async ({ page }, index) => {
      await page.goto(sites[index]!.setupLink);
      await page.getByLabel("E-mail address").fill(`admin-${index}@example.com`);
      await page.getByLabel(/^Password/).fill(PASSWORD);
      return page.getByRole("button", { name: "Create account" });
    });
    await Promise.all((await Promise.all(buttons)).map((button) => button.click()));
    const ends = await Promise.all(
      windows.map(async ({ page }) => {
        const result = heading(page, "Home").or(page.getByRole("alert"));
        await result.first().waitFor();
        return (await result.first().innerText()).split("\n")[0]!;
      }),
    );
    const winners = ends.flatMap((end, index) => (end === "Home" ? [index] : []));
    expect(winners).toHaveLength(1);
    for (const end of ends.filter((_, index) => index !== winners[0]))
      expect(end).toMatch(/^(The first admin already exists|The link is no longer valid)$/);
    // After a reload, the page tells the others what to do.
    const loser = windows[(winners[0]! + 1) % 3]!.page;
    await loser.reload();
    await heading(loser, "An admin account already exists").waitFor();
    await loser.getByRole("link", { name: "Sign in" }).click();
    await signIn(loser, `admin-${winners[0]}@example.com`);
    await heading(loser, "Home").waitFor();
    await loser.goto(`${sites[0]!.url}/ui/people`);
    await loser.getByText("1 of 1", { exact: true }).waitFor();
  });
});

describe("people", () => {
  it("join by an e-mailed invitation, and reset a forgotten password by e-mail", async () => {
    const site = await openSite({ mail: true, workers: 0 });
    const admin = await createFirstAdmin(site);
    await site.linkFromMail(1);
    const browser = await openBrowser();
    const inviting = await openWindow(browser, site, admin);
    await inviting.visit("/people");
    await inviting.page.getByRole("button", { name: "Invite user" }).click();
    const form = inviting.page.getByRole("dialog", { name: "Invite user" });
    await form.getByLabel("E-mail address").fill("ben@example.com");
    await selectOption(inviting.page, form.getByRole("combobox", { name: "Role" }), "viewer");
    await form.getByRole("button", { name: "Send invitation" }).click();
    await inviting.page.getByRole("listitem").filter({ hasText: "ben@example.com" }).waitFor();

    const { page, problems } = await openWindow(browser, site);
    await page.goto(await site.linkFromMail(2));
    await heading(page, "Welcome to Millrace").waitFor();
    expect(await page.getByLabel("E-mail address").inputValue()).toBe("ben@example.com");
    await page.getByLabel(/^Password/).fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await heading(page, "Home").waitFor();
    await page.getByRole("button", { name: "User menu of ben@example.com" }).waitFor();

    await chooseFromUserMenu(page, "Sign out");
    await page.getByRole("link", { name: "Forgot your password?" }).click();
    // The previous page has a field of the same name.
    await heading(page, "Reset your password").waitFor();
    await page.getByLabel("E-mail address").fill("ben@example.com");
    await page.getByRole("button", { name: "Send reset link" }).click();
    await page.getByText("we sent it a reset link").waitFor();
    const link = await site.linkFromMail(3);
    await page.goto(link);
    await heading(page, "Choose a new password").waitFor();
    await page.getByLabel(/^Password/).fill(`${PASSWORD}, again`);
    await page.getByRole("button", { name: "Save and sign in" }).click();
    await heading(page, "Home").waitFor();
    expect(problems).toEqual([]);

    // The link works once, and the old password no longer works.
    const other = await openWindow(browser, site);
    await other.page.goto(link);
    await heading(other.page, "This link doesn't work").waitFor();
    await other.page.getByRole("link", { name: "Sign in" }).click();
    await signIn(other.page, "ben@example.com");
    await other.page.getByRole("alert").filter({ hasText: "Wrong e-mail address or password" }).waitFor();
  });

  it("get an invitation and a reset link from the admin where mail is not configured", async () => {
    const site = await openSite({ workers: 0 });
    const browser = await openBrowser();
    const { page, visit } = await openWindow(browser, site, await createFirstAdmin(site), WITH_CLIPBOARD);
    await visit("/people");
    await page.getByRole("button", { name: "Invite user" }).click();
    const form = page.getByRole("dialog", { name: "Invite user" });
    await form.getByLabel("E-mail address").fill("ben@example.com");
    await form.getByRole("button", { name: "Create invitation link" }).click();
    const shareDialog = page.getByRole("dialog", { name: "Link for ben@example.com" });
    const link = await copySnippet(page, "link");
    await shareDialog.getByRole("button", { name: "Done" }).click();

    const theirs = (await openWindow(browser, site)).page;
    await theirs.goto(link);
    await theirs.getByLabel(/^Password/).fill(PASSWORD);
    await theirs.getByRole("button", { name: "Create account" }).click();
    await heading(theirs, "Home").waitFor();
    await chooseFromUserMenu(theirs, "Sign out");
    await theirs.getByRole("link", { name: "Forgot your password?" }).click();
    await theirs.getByText("This server can't send e-mail").waitFor();

    await page.reload();
    await page.getByRole("button", { name: "Actions for ben@example.com" }).click();
    await page.getByRole("menuitem", { name: "Password reset link" }).click();
    await theirs.goto(await copySnippet(page, "link"));
    await heading(theirs, "Choose a new password").waitFor();
    expect(await theirs.getByLabel("E-mail address").inputValue()).toBe("ben@example.com");
  });

  it("are invited by an address of every script, and the field says what is wrong with one", async () => {
    const site = await openSite({ workers: 0 });
    const browser = await openBrowser();
    const { page, visit } = await openWindow(browser, site, await createFirstAdmin(site), WITH_CLIPBOARD);
    await visit("/people");
    await page.getByRole("button", { name: "Invite user" }).click();
    const form = page.getByRole("dialog", { name: "Invite user" });
    await form.getByLabel("E-mail address").fill("Dasha <дарья@пример.рф>");
    await form.getByRole("button", { name: "Create invitation link" }).click();
    await form.getByText("it has angle brackets").waitFor();
    await form.getByLabel("E-mail address").fill("дарья@пример.рф");
    await form.getByRole("button", { name: "Create invitation link" }).click();
    const address = "дарья@xn--e1afmkfd.xn--p1ai";
    const shareDialog = page.getByRole("dialog", { name: `Link for ${address}` });
    const link = await copySnippet(page, "link");
    await shareDialog.getByRole("button", { name: "Done" }).click();

    const theirs = (await openWindow(browser, site)).page;
    await theirs.goto(link);
    await heading(theirs, "Welcome to Millrace").waitFor();
    expect(await theirs.getByLabel("E-mail address").inputValue()).toBe(address);
    await theirs.getByLabel(/^Password/).fill(PASSWORD);
    await theirs.getByRole("button", { name: "Create account" }).click();
    await heading(theirs, "Home").waitFor();
    await chooseFromUserMenu(theirs, "Sign out");
    await signIn(theirs, "Дарья@Пример.рф");
    await theirs.getByRole("button", { name: `User menu of ${address}` }).waitFor();
  });

  it("are changed and deactivated by an admin, but never the last admin", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    const ben = await addPerson(site, ann, "ben@example.com", "editor");
    const browser = await openBrowser();
    const { page, visit } = await openWindow(browser, site, ann);
    await visit("/people");
    await selectOption(page, page.getByRole("combobox", { name: "Role of ben@example.com" }), "viewer");
    await page.getByText("ben@example.com: viewer, active.").waitFor();
    await page.getByRole("button", { name: "Actions for ben@example.com" }).click();
    await page.getByRole("menuitem", { name: "Deactivate…" }).click();
    const confirmation = page.getByRole("dialog", { name: "Deactivate ben@example.com?" });
    await confirmation.getByRole("button", { name: "Deactivate" }).click();
    await page.getByRole("listitem").filter({ hasText: "deactivated" }).waitFor();
    expect((await ben.api.request("GET", "/session")).status).toBe(401);

    await selectOption(page, page.getByRole("combobox", { name: "Role of ann@example.com" }), "editor");
    await page
      .getByRole("alert")
      .filter({ hasText: "The last admin must stay" })
      .or(page.getByRole("alert").filter({ hasText: "Couldn't change ann@example.com" }))
      .first()
      .waitFor();
    expect(await page.getByRole("combobox", { name: "Role of ann@example.com" }).inputValue()).toBe("admin");
  });
});

describe("a session", () => {
  it("is listed, and can be ended from another browser, one at a time or all at once", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    const browser = await openBrowser();
    const here = await openWindow(browser, site, ann);
    const [second, third] = await Promise.all([1, 2].map(() => openWindow(browser, site)));
    for (const { page, visit } of [second!, third!]) {
      await visit("/account");
      await signIn(page, ann.email);
      await heading(page, "Account").waitFor();
    }
    await here.visit("/account");
    const { page } = here;
    const rows = page.getByRole("button", { name: /^Sign out (Chrome|Firefox)/ });
    await rows.nth(1).waitFor();
    await page.getByText("this browser").waitFor();
    await rows.first().click();
    await page.getByText(/is signed out\.$/).waitFor();
    await rows.nth(1).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Sign out everywhere else" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere else" }).click();
    await page.getByText("1 session ended.").waitFor();
    // One of them keeps navigating, the other reloads the page.
    await second!.page.getByRole("link", { name: "Runs", exact: true }).click();
    await third!.page.reload();
    await heading(third!.page, "Sign in").waitFor();
    expect(third!.page.url()).toContain("/ui/sign-in?to=%2Faccount");
    const dialog = second!.page.getByRole("dialog", { name: "You are signed out" });
    await dialog.waitFor();
    await page.reload();
    await page.getByText("1 of 1", { exact: true }).waitFor();
    expect(await rows.count()).toBe(0);
    // After signing in again, the page is still open.
    await dialog.getByLabel(/^Password/).fill(PASSWORD);
    await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await heading(second!.page, "Runs").waitFor();
  });

  it("ends on sign-out, returns to the requested page on sign-in, and never redirects to another site", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    const browser = await openBrowser();
    const { page, visit, requestedHosts, problems } = await openWindow(browser, site);
    await visit("/keys?everyone=true");
    expect(page.url()).toBe(`${site.url}/ui/sign-in?to=${encodeURIComponent("/keys?everyone=true")}`);
    await signIn(page, ann.email);
    await heading(page, "API Keys").waitFor();
    expect(page.url()).toBe(`${site.url}/ui/keys?everyone=true`);

    await chooseFromUserMenu(page, "Sign out");
    await heading(page, "Sign in").waitFor();

    await page.goto(`${site.url}/ui/sign-in?to=//evil.example`);
    await signIn(page, ann.email);
    await heading(page, "Home").waitFor();
    // A user who is already signed in is redirected at once, with the same checks.
    for (const to of [
      "//evil.example",
      "/\\evil.example",
      "https://evil.example/",
      "javascript:alert(1)",
      "/%2Fevil.example",
    ]) {
      await page.goto(`${site.url}/ui/sign-in?to=${encodeURIComponent(to)}`);
      await heading(page, /^(Home|Not found)$/).waitFor();
      expect(new URL(page.url()).origin).toBe(site.url);
    }
    expect([...requestedHosts]).toEqual([new URL(site.url).host]);
    expect(problems).toEqual([]);
    expect(await requestApi<{ email: string }[]>(ann, "GET", "/users")).toHaveLength(1);
  });
});
