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
} from "../support/web.ts";

const run = promisify(execFile);

/** Runs a line as somebody does who pastes it into a shell. */
const inShell = async (line: string): Promise<string> => (await run("sh", ["-c", line])).stdout;

/** The HTTP status that curl gets for the workflows with a key. */
const statusWith = async (url: string, key: string): Promise<string> =>
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

/** What the copy button of a snippet hands over, which is what stands there. */
async function copied(page: Page, label: string): Promise<string> {
  const button = page.getByRole("button", { name: `Copy ${label}`, exact: true });
  await button.click();
  const text = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(await page.locator("pre").allInnerTexts()).toContain(text);
  return text;
}

const WITH_CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

async function makeAccount(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel(/^Password/).fill(PASSWORD);
  await page.getByRole("button", { name: "Make the account" }).click();
}

describe("the first visit", () => {
  it("leads from the printed link to a key that curl uses, shown once, rotated and revoked", async () => {
    const site = await openSite({ workers: 0 });
    const browser = await openBrowser();
    const { page, problems, requestedHosts } = await openWindow(browser, site, undefined, WITH_CLIPBOARD);
    await page.goto(site.setupLink);
    await heading(page, "Make your admin account").waitFor();
    await page.getByLabel(/^Password/).fill("Password1234");
    await page.getByText(/^Strength: .*guessed/).waitFor();
    await page.getByLabel(/^Password/).fill(PASSWORD);
    await page.getByText("Strength: strong.").waitFor();
    await makeAccount(page, "ann@example.com");
    await heading(page, "Home").waitFor();

    await chooseFromUserMenu(page, "API Keys");
    await heading(page, "API Keys").waitFor();
    await page.getByText("No keys yet").waitFor();
    await page.getByRole("button", { name: "Create New API Key" }).first().click();
    const form = page.getByRole("dialog", { name: "Create New API Key" });
    await form.getByLabel(/^Name/).fill("ci");
    await selectOption(page, form.getByRole("combobox", { name: "Expiration date" }), "In 30 days");
    await form.getByRole("button", { name: "Create", exact: true }).click();
    const made = page.getByRole("dialog", { name: 'The key "ci"' });
    const key = await copied(page, "API key");
    expect(key).toMatch(/^mill_\w{30,}$/);
    // As it stands there, pasted into a shell.
    expect(JSON.parse(await inShell(await copied(page, "curl command")))).toEqual([]);
    await made.getByRole("button", { name: "I have kept it" }).click();

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
    const successor = await copied(page, "API key");
    expect(successor).not.toBe(key);
    await page.getByRole("button", { name: "I have kept it" }).click();
    // Both work for the overlap.
    expect(await Promise.all([key, successor].map((value) => statusWith(site.url, value)))).toEqual([
      "200",
      "200",
    ]);

    const old = page.getByRole("row").filter({ hasText: `…${key.slice(-4)}` });
    await old.getByText("expires soon").waitFor();
    await old.getByRole("button", { name: "Actions for the key ci" }).click();
    await page.getByRole("menuitem", { name: "Revoke…" }).click();
    const asked = page.getByRole("dialog", { name: 'Revoke the key "ci"?' });
    expect(await asked.innerText()).toContain(`ends in ${key.slice(-4)}`);
    await asked.getByRole("button", { name: "Revoke" }).click();
    await old.getByText("revoked").waitFor();
    expect(await statusWith(site.url, key)).toBe("401");
    expect(await statusWith(site.url, successor)).toBe("200");
    expect([...requestedHosts]).toEqual([new URL(site.url).host]);
    expect(problems).toEqual([]);
  });

  it("is won by one of three who race for it through three processes, and the others are told", async () => {
    const stateDir = newStateDirectory();
    const sites = await Promise.all([1, 2, 3].map(() => openSite({ stateDir, workers: 0 })));
    const browser = await openBrowser();
    const windows = await Promise.all(sites.map((site) => openWindow(browser, site)));
    const buttons = windows.map(async ({ page }, index) => {
      await page.goto(sites[index]!.setupLink);
      await page.getByLabel("E-mail address").fill(`admin-${index}@example.com`);
      await page.getByLabel(/^Password/).fill(PASSWORD);
      return page.getByRole("button", { name: "Make the account" });
    });
    await Promise.all((await Promise.all(buttons)).map((button) => button.click()));
    const ends = await Promise.all(
      windows.map(async ({ page }) => {
        const said = heading(page, "Home").or(page.getByRole("alert"));
        await said.first().waitFor();
        return (await said.first().innerText()).split("\n")[0]!;
      }),
    );
    const winners = ends.flatMap((end, index) => (end === "Home" ? [index] : []));
    expect(winners).toHaveLength(1);
    for (const end of ends.filter((_, index) => index !== winners[0]))
      expect(end).toMatch(/^(The first admin exists already|The link is no longer valid)$/);
    // Who lost is told what to do, and finds it on the page that is loaded again.
    const loser = windows[(winners[0]! + 1) % 3]!.page;
    await loser.reload();
    await heading(loser, "The first admin exists already").waitFor();
    await loser.getByRole("link", { name: "Sign in" }).click();
    await signIn(loser, `admin-${winners[0]}@example.com`);
    await heading(loser, "Home").waitFor();
    await loser.goto(`${sites[0]!.url}/ui/people`);
    await loser.getByText("1 of 1", { exact: true }).waitFor();
  });
});

describe("people", () => {
  it("come by an invitation in a mail, and by another mail again when the password is forgotten", async () => {
    const site = await openSite({ mail: true, workers: 0 });
    const admin = await createFirstAdmin(site);
    await site.linkFromMail(1);
    const browser = await openBrowser();
    const inviting = await openWindow(browser, site, admin);
    await inviting.visit("/people");
    await inviting.page.getByRole("button", { name: "Invite somebody" }).click();
    const form = inviting.page.getByRole("dialog", { name: "Invite somebody" });
    await form.getByLabel("E-mail address").fill("ben@example.com");
    await selectOption(inviting.page, form.getByRole("combobox", { name: "Role" }), "viewer");
    await form.getByRole("button", { name: "Send the invitation" }).click();
    await inviting.page.getByRole("listitem").filter({ hasText: "ben@example.com" }).waitFor();

    const { page, problems } = await openWindow(browser, site);
    await page.goto(await site.linkFromMail(2));
    await heading(page, "Welcome to Millrace").waitFor();
    expect(await page.getByLabel("E-mail address").inputValue()).toBe("ben@example.com");
    await page.getByLabel(/^Password/).fill(PASSWORD);
    await page.getByRole("button", { name: "Begin" }).click();
    await heading(page, "Home").waitFor();
    await page.getByRole("button", { name: "User menu of ben@example.com" }).waitFor();

    await chooseFromUserMenu(page, "Sign out");
    await page.getByRole("link", { name: "Forgotten your password?" }).click();
    // The page before has a field of the same name.
    await heading(page, "A new password").waitFor();
    await page.getByLabel("E-mail address").fill("ben@example.com");
    await page.getByRole("button", { name: "Send me a link" }).click();
    await page.getByText("a mail with a link is on its way").waitFor();
    const link = await site.linkFromMail(3);
    await page.goto(link);
    await heading(page, "Choose a new password").waitFor();
    await page.getByLabel(/^Password/).fill(`${PASSWORD}, anew`);
    await page.getByRole("button", { name: "Save and sign in" }).click();
    await heading(page, "Home").waitFor();
    expect(problems).toEqual([]);

    // The link worked once, and the old password no longer does.
    const other = await openWindow(browser, site);
    await other.page.goto(link);
    await heading(other.page, "This link does not work").waitFor();
    await other.page.getByRole("link", { name: "Sign in" }).click();
    await signIn(other.page, "ben@example.com");
    await other.page.getByRole("alert").filter({ hasText: "Wrong e-mail address or password" }).waitFor();
  });

  it("are handed a link where no mail is sent, to come and to come back", async () => {
    const site = await openSite({ workers: 0 });
    const browser = await openBrowser();
    const { page, visit } = await openWindow(browser, site, await createFirstAdmin(site), WITH_CLIPBOARD);
    await visit("/people");
    await page.getByRole("button", { name: "Invite somebody" }).click();
    const form = page.getByRole("dialog", { name: "Invite somebody" });
    await form.getByLabel("E-mail address").fill("ben@example.com");
    await form.getByRole("button", { name: "Make the invitation" }).click();
    const handed = page.getByRole("dialog", { name: "A link for ben@example.com" });
    const link = await copied(page, "link");
    await handed.getByRole("button", { name: "Done" }).click();

    const theirs = (await openWindow(browser, site)).page;
    await theirs.goto(link);
    await theirs.getByLabel(/^Password/).fill(PASSWORD);
    await theirs.getByRole("button", { name: "Begin" }).click();
    await heading(theirs, "Home").waitFor();
    await chooseFromUserMenu(theirs, "Sign out");
    await theirs.getByRole("link", { name: "Forgotten your password?" }).click();
    await theirs.getByText("Mail is not set up here, so ask an admin").waitFor();

    await page.reload();
    await page.getByRole("button", { name: "Actions for ben@example.com" }).click();
    await page.getByRole("menuitem", { name: "Link for a new password" }).click();
    await theirs.goto(await copied(page, "link"));
    await heading(theirs, "Choose a new password").waitFor();
    expect(await theirs.getByLabel("E-mail address").inputValue()).toBe("ben@example.com");
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
    const asked = page.getByRole("dialog", { name: "Deactivate ben@example.com?" });
    await asked.getByRole("button", { name: "Deactivate" }).click();
    await page.getByRole("listitem").filter({ hasText: "deactivated" }).waitFor();
    expect((await ben.api.request("GET", "/session")).status).toBe(401);

    await selectOption(page, page.getByRole("combobox", { name: "Role of ann@example.com" }), "editor");
    await page
      .getByRole("alert")
      .filter({ hasText: "The last admin must stay" })
      .or(page.getByRole("alert").filter({ hasText: "ann@example.com was not changed" }))
      .first()
      .waitFor();
    expect(await page.getByRole("combobox", { name: "Role of ann@example.com" }).inputValue()).toBe("admin");
  });
});

describe("a session", () => {
  it("is listed, and can be ended from another browser, one by one and all others at once", async () => {
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
    await page.getByText("this one").waitFor();
    await rows.first().click();
    await page.getByText(/is signed out\.$/).waitFor();
    await rows.nth(1).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Sign out everywhere else" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere else" }).click();
    await page.getByText("One session was ended.").waitFor();
    // One who goes on, and one who loads the page again.
    await second!.page.getByRole("link", { name: "Runs", exact: true }).click();
    await third!.page.reload();
    await heading(third!.page, "Sign in").waitFor();
    expect(third!.page.url()).toContain("/ui/sign-in?to=%2Faccount");
    const over = second!.page.getByRole("dialog", { name: "You are signed out" });
    await over.waitFor();
    await page.reload();
    await page.getByText("1 of 1", { exact: true }).waitFor();
    expect(await rows.count()).toBe(0);
    // They go on where they were.
    await over.getByLabel(/^Password/).fill(PASSWORD);
    await over.getByRole("button", { name: "Sign in", exact: true }).click();
    await over.waitFor({ state: "detached" });
    await heading(second!.page, "Runs").waitFor();
  });

  it("ends by signing out, begins where one was, and never leads away from the site", async () => {
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
    // Who is signed in already is sent on at once, by the same rule.
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
