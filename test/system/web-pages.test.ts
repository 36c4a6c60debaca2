import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  openSeededSite,
  PASSWORD,
  takeScreenshot,
  routerPaths,
  waitUntilLoaded,
  SIGNED_OUT_PAGES,
  type BrowserWindow,
} from "../support/web.ts";

const WIDE = { width: 1280, height: 900 };
/** A phone. */
const NARROW = { width: 400, height: 800 };

const FILES: Readonly<Record<string, string>> = { "/": "home", "*": "not-found" };
const fileName = (name: string): string =>
  FILES[name] ?? name.replaceAll(/[^a-z0-9]+/gi, "-").replaceAll(/^-|-$/g, "");

/** What axe-core finds, each with where. */
async function violations(page: Page, rules?: string[]): Promise<string[]> {
  const builder = new AxeBuilder({ page }).options({ resultTypes: ["violations"] });
  if (rules !== undefined) builder.withRules(rules);
  const found = await builder.analyze();
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) =>
        `${id}: ${help}: ${target.join(" ")}: ${failureSummary?.split("\n")[1]?.trim()}`,
    ),
  );
}

/** Changes what the system prefers, and waits until the page follows. */
async function prefer(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
  // What changes its colour by and by has changed it.
  await page.evaluate(() =>
    Promise.all(
      (globalThis as unknown as Doc).document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
        .map(({ finished }) => finished.catch(() => undefined)),
    ),
  );
}

interface Doc {
  document: {
    documentElement: { scrollWidth: number; clientWidth: number };
    getAnimations(): {
      effect: { getComputedTiming(): { endTime: number } } | null;
      finished: Promise<unknown>;
    }[];
  };
}

/** By how many pixels the page is wider than its window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = (globalThis as unknown as Doc).document.documentElement;
    return scrollWidth - clientWidth;
  });

/** Looks at what is shown in every guise; gives all that is wrong with it. */
async function issuesOf({ page }: BrowserWindow, name: string): Promise<string[]> {
  const issues: string[] = [];
  const note = (guise: string, found: readonly string[]) =>
    void issues.push(...found.map((issue) => `${name} (${guise}): ${issue}`));
  for (const [size, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    await page.setViewportSize(viewport);
    await waitUntilLoaded(page);
    for (const scheme of ["light", "dark"] as const) {
      await prefer(page, scheme);
      // Only colours differ between the schemes.
      note(`${size}, ${scheme}`, await violations(page, scheme === "dark" ? ["color-contrast"] : undefined));
      await takeScreenshot(page, `${fileName(name)}-${size}-${scheme}`);
    }
    await prefer(page, "light");
    const wider = await overflow(page);
    if (wider > 0) note(size, [`the page is ${wider} px wider than its window`]);
  }
  await page.setViewportSize(WIDE);
  return issues;
}

/** So many pages in four guises take their time on a machine that has much else to do. */
const LONG_MS = 400_000;

describe("every page", () => {
  it(
    "is accessible in light and dark, fits a phone, and asks nobody else for anything",
    { timeout: LONG_MS },
    async () => {
      const { site, ann, pages, invitation } = await openSeededSite();
      const browser = await openBrowser();
      const window = await openWindow(browser, site, ann);
      const issues: string[] = [];
      expect([...Object.keys(pages), ...SIGNED_OUT_PAGES]).toEqual(expect.arrayContaining(routerPaths()));
      for (const [name, path] of Object.entries(pages)) {
        await window.visit(path);
        issues.push(...(await issuesOf(window, name)));
      }
      for (const [path, button] of [
        ["/keys", "Create New API Key"],
        ["/people", "Invite somebody"],
        [pages["/workflows/:workflowId"]!, "Publish"],
      ] as const) {
        await window.visit(path);
        await window.page.getByRole("button", { name: button }).first().click();
        await window.page.getByRole("dialog").waitFor();
        issues.push(...(await issuesOf(window, button)));
      }
      const out = await openWindow(browser, site);
      for (const path of SIGNED_OUT_PAGES) {
        await out.visit(path);
        issues.push(...(await issuesOf(out, path)));
      }
      await out.page.goto(invitation);
      issues.push(...(await issuesOf(out, "an invitation")));
      expect(issues).toEqual([]);
      expect([...window.problems, ...out.problems]).toEqual([]);
      expect([...new Set([...window.requestedHosts, ...out.requestedHosts])]).toEqual([
        new URL(site.url).host,
      ]);
    },
  );

  it("of the first visit is accessible too", async () => {
    const site = await openSite({ workers: 0 });
    const window = await openWindow(await openBrowser(), site);
    await window.page.goto(site.setupLink);
    await window.page.getByLabel(/^Password/).fill("12345678");
    await window.page.getByText("This one is short").waitFor();
    expect(await issuesOf(window, "the first visit")).toEqual([]);
    expect(window.problems).toEqual([]);
  });
});

/** What has the focus: its name, and whether one sees that it has it. */
const focused = (page: Page): Promise<{ name: string; tag: string; seen: boolean; marked: boolean }> =>
  page.evaluate(() => {
    const { document, getComputedStyle, innerHeight, innerWidth } = globalThis as unknown as Dom;
    const active = document.activeElement;
    const label = active.labels?.[0]?.innerText ?? "";
    const name = (active.getAttribute("aria-label") ?? (label || active.innerText)).trim().split("\n")[0]!;
    // A switch is drawn by what follows its input.
    const drawn = active.getBoundingClientRect().width > 0 ? active : (active.nextElementSibling ?? active);
    const { top, left, bottom, right, width } = drawn.getBoundingClientRect();
    const around = [drawn];
    for (let one = drawn.parentElement; one !== null && around.length < 5; one = one.parentElement)
      around.push(one);
    return {
      name: name.replace(/ \*$/, ""),
      tag: active.tagName.toLowerCase(),
      seen: width > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
      // By itself (the library's fields by their border), or by what stands around it: the card of a link that covers
      // it, a frame laid over the editor.
      marked:
        /^(INPUT|TEXTAREA|SELECT)$/.test(active.tagName) ||
        (active.matches(":focus-visible") &&
          around.some(
            (one) =>
              getComputedStyle(one).outlineStyle !== "none" ||
              getComputedStyle(one, "::after").borderTopStyle !== "none",
          )),
    };
  });

interface Focusable {
  tagName: string;
  labels?: readonly { innerText: string }[];
  innerText: string;
  parentElement: Focusable | null;
  nextElementSibling: Focusable | null;
  getAttribute(name: string): string | null;
  matches(selector: string): boolean;
  getBoundingClientRect(): Record<"top" | "left" | "bottom" | "right" | "width", number>;
}

interface Dom {
  document: { activeElement: Focusable };
  getComputedStyle(one: Focusable, part?: string): Record<"outlineStyle" | "borderTopStyle", string>;
  innerHeight: number;
  innerWidth: number;
}

/** The same, once it is marked: the editor does so a moment later. */
async function marked(page: Page): ReturnType<typeof focused> {
  let at = await focused(page);
  for (let again = 0; again < 30 && at.tag !== "body" && !(at.seen && at.marked); again += 1)
    at = await focused(page);
  return at;
}

/** Goes on with Tab until something has the focus; everything on the way must show that it has it. */
async function tabTo(page: Page, name: string, most = 40): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < most; step += 1) {
    await page.keyboard.press("Tab");
    const at = await marked(page);
    passed.push(at.name);
    if (at.tag !== "body" && !(at.seen && at.marked))
      throw new Error(`One does not see that ${at.name} has the focus, after ${passed.join(", ")}`);
    if (at.name === name) return;
  }
  throw new Error(`Tab does not reach ${name}; it passes ${passed.join(", ")}`);
}

/** More than any page has. */
const MOST_STOPS = 150;

describe("with the keyboard alone", () => {
  it("one signs in, skips to the content, makes a key and comes back to where one was", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    const { page, visit } = await openWindow(await openBrowser(), site);
    await visit("/sign-in");
    await tabTo(page, "E-mail address");
    await page.keyboard.type(ann.email);
    await tabTo(page, "Password");
    await page.keyboard.type(PASSWORD);
    await tabTo(page, "Sign in");
    await page.keyboard.press("Enter");
    await heading(page, "Home").waitFor();
    await waitUntilLoaded(page);

    await tabTo(page, "Skip to the content");
    await page.keyboard.press("Enter");
    expect((await focused(page)).tag).toBe("main");
    await page.reload();
    await waitUntilLoaded(page);
    await tabTo(page, `User menu of ${ann.email}`);
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "API Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    expect((await focused(page)).name).toBe(`User menu of ${ann.email}`);
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "API Keys" }).waitFor();
    while ((await focused(page)).name !== "API Keys") await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await heading(page, "API Keys").waitFor();
    await waitUntilLoaded(page);

    await tabTo(page, "Create New API Key");
    await page.keyboard.press("Enter");
    const form = page.getByRole("dialog", { name: "Create New API Key" });
    await form.waitFor();
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    expect((await focused(page)).name).toBe("Create New API Key");
    await page.keyboard.press("Enter");
    await form.waitFor();
    await page.waitForFunction(
      () => (globalThis as unknown as Dom).document.activeElement.tagName === "INPUT",
    );
    await page.keyboard.type("by keyboard");
    await tabTo(page, "Expiration date");
    await page.keyboard.press("Enter");
    await page.getByRole("option", { name: "In 90 days" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("option").first().waitFor({ state: "detached" });
    await tabTo(page, "Create");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: 'The key "by keyboard"' }).waitFor();
    await takeScreenshot(page, "a-key-shown-once");
    await tabTo(page, "I have kept it");
    await page.keyboard.press("Enter");
    const row = page.getByRole("row", { name: /^by keyboard .*in \d+ days/ });
    expect(await row.innerText()).not.toMatch(/in (89|90) days/);
    expect((await focused(page)).name).toBe("Create New API Key");
  });

  it("one gets through the editor, and out of every page again", async () => {
    const { site, ann, pages } = await openSeededSite();
    const { page, visit } = await openWindow(await openBrowser(), site, ann);
    await visit(pages["/workflows/:workflowId/edit"]!);
    await page.getByRole("textbox", { name: /^Definition of / }).focus();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect((await focused(page)).name).not.toMatch(/^Definition of /);
    const issues: string[] = [];
    for (const [name, path] of Object.entries(pages)) {
      // The editors are entered, and left by Escape and Tab: as above.
      if (name.endsWith("/edit") || name.endsWith("/retry")) continue;
      await visit(path);
      const passed: string[] = [];
      // Round once: from the first stop to the first again, or out of the page.
      for (;;) {
        await page.keyboard.press("Tab");
        const at = await marked(page);
        if (passed.length > 0 && (at.tag === "body" || at.name === "Skip to the content")) break;
        passed.push(at.name);
        if (!at.seen || !at.marked)
          issues.push(`${name}: one does not see that ${at.name} (${at.tag}) has the focus`);
        if (passed.length < MOST_STOPS) continue;
        issues.push(`${name} holds the focus: ${passed.slice(-5).join(", ")}`);
        break;
      }
      if (passed[0] !== "Skip to the content") issues.push(`${name} begins with ${passed[0]}`);
    }
    expect(issues).toEqual([]);
  });
});

const PROBLEM = {
  type: "urn:millrace:problem:store_busy",
  title: "The store is busy",
  status: 503,
  detail: "The store is busy. Ask again in a moment.",
  code: "store_busy",
  request_id: "req_test",
};

/** The lists: what each asks for, and what it says while there is nothing. */
const LISTS = [
  { path: "/workflows", asks: "/workflows", empty: "There is no workflow yet." },
  { path: "/runs", asks: "/runs", empty: "Nothing has run yet" },
  { path: "/approvals", asks: "/approvals", empty: "Nothing waits for a decision" },
  { path: "/keys", asks: "/api-keys", empty: "No keys yet" },
  { path: "/people?search=nobody", asks: "/users", empty: "Nobody matches" },
  { path: "/audit?search=nothing-like-it", asks: "/audit-log", empty: "Nothing matches" },
] as const;

describe("a list", () => {
  it("says that it loads, that it could not, and that there is nothing yet; and tries again when asked to", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    const browser = await openBrowser();
    await Promise.all(
      LISTS.map(async ({ path, asks, empty }) => {
        const { page } = await openWindow(browser, site, ann);
        let answer = Promise.withResolvers<void>();
        let broken = true;
        await page.route(
          (url) => url.pathname === asks,
          async (route) => {
            await answer.promise;
            if (!broken) return route.continue();
            return route.fulfill({ status: 503, contentType: "application/problem+json", json: PROBLEM });
          },
        );
        await page.goto(`${site.url}/ui${path}`);
        await page.getByRole("status", { name: "Loading" }).first().waitFor();
        answer.resolve();
        const told = page.getByRole("alert").filter({ hasText: "The store is busy. Ask again in a moment." });
        await told.waitFor();
        await takeScreenshot(page, `${fileName(path)}-error`);
        broken = false;
        answer = Promise.withResolvers<void>();
        await told.getByRole("button", { name: "Try again" }).click();
        answer.resolve();
        await page.getByText(empty).first().waitFor();
        await told.waitFor({ state: "detached" });
        await takeScreenshot(page, `${fileName(path)}-empty`);
        expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
      }),
    );
  });

  it("says so in words when the server can't be reached at all", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    const { page, visit } = await openWindow(await openBrowser(), site, ann);
    await visit("/keys");
    await site.program.stop("SIGKILL");
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    const told = page.getByRole("alert").filter({ hasText: /can't be reached|Load the page again/ });
    await told.first().waitFor();
    expect(
      await told
        .first()
        .getByRole("button")
        .or(page.getByRole("button", { name: "Load the page again" }))
        .count(),
    ).toBeGreaterThan(0);
  });
});
