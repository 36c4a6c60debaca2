import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { untilPassing } from "../../support/eventually.ts";
import { violations } from "../../support/axe.ts";
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
} from "../../support/web.ts";

const WIDE = { width: 1280, height: 900 };
/** The width of a phone. */
const NARROW = { width: 400, height: 800 };

const FILES: Readonly<Record<string, string>> = { "/": "home", "*": "not-found" };
const fileName = (name: string): string =>
  FILES[name] ?? name.replaceAll(/[^a-z0-9]+/gi, "-").replaceAll(/^-|-$/g, "");

/** Changes the system's colour scheme, and waits until the page has applied it. */
async function setColorScheme(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
  // Colour transitions have ended.
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

/** @returns by how many pixels the page is wider than its window */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = (globalThis as unknown as Doc).document.documentElement;
    return scrollWidth - clientWidth;
  });

/** Checks the current page in both sizes and colour schemes. @returns everything that is wrong with it */
async function issuesOf({ page }: BrowserWindow, name: string): Promise<string[]> {
  const issues: string[] = [];
  const addIssues = (variant: string, found: readonly string[]) =>
    void issues.push(...found.map((issue) => `${name} (${variant}): ${issue}`));
  for (const [size, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    await page.setViewportSize(viewport);
    await waitUntilLoaded(page);
    for (const scheme of ["light", "dark"] as const) {
      await setColorScheme(page, scheme);
      // The schemes differ only in colours.
      addIssues(
        `${size}, ${scheme}`,
        await violations(page, scheme === "dark" ? ["color-contrast"] : undefined),
      );
      await takeScreenshot(page, `${fileName(name)}-${size}-${scheme}`);
    }
    await setColorScheme(page, "light");
    const excess = await overflow(page);
    if (excess > 0) addIssues(size, [`the page is ${excess} px wider than its window`]);
  }
  await page.setViewportSize(WIDE);
  return issues;
}

/** All pages in four variants take long on a busy machine. */
const LONG_MS = 400_000;

describe("every page", () => {
  it(
    "is accessible in light and dark mode, fits a phone, and sends no request to another host",
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
        ["/people", "Invite user"],
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
    await window.page.getByText("The password has fewer than 12 characters").waitFor();
    expect(await issuesOf(window, "the first visit")).toEqual([]);
    expect(window.problems).toEqual([]);
  });
});

/** The focused element: its name, and whether it and its focus indicator are visible. */
const focused = (page: Page): Promise<{ name: string; tag: string; seen: boolean; marked: boolean }> =>
  page.evaluate(() => {
    const { document, getComputedStyle, innerHeight, innerWidth } = globalThis as unknown as Dom;
    const active = document.activeElement;
    const label = active.labels?.[0]?.innerText ?? "";
    const name = (active.getAttribute("aria-label") ?? (label || active.innerText)).trim().split("\n")[0]!;
    // The input of a switch is invisible; the element after it is drawn.
    const drawn = active.getBoundingClientRect().width > 0 ? active : (active.nextElementSibling ?? active);
    const { top, left, bottom, right, width } = drawn.getBoundingClientRect();
    const around = [drawn];
    for (let one = drawn.parentElement; one !== null && around.length < 5; one = one.parentElement)
      around.push(one);
    return {
      name: name.replace(/ \*$/, ""),
      tag: active.tagName.toLowerCase(),
      seen: width > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
      // The indicator is on the element (a border on the library's fields) or around it: on the card of a link, or as
      // a frame over the editor.
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

/** The focused element, once its indicator is visible: the editor renders it with a delay. */
async function waitForFocusIndicator(page: Page): ReturnType<typeof focused> {
  let at = await focused(page);
  for (let again = 0; again < 30 && at.tag !== "body" && !(at.seen && at.marked); again += 1)
    at = await focused(page);
  return at;
}

/** Presses Tab until the element with this name has the focus. Every element on the way must show its focus. */
async function tabTo(page: Page, name: string, maxStops = 40): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < maxStops; step += 1) {
    await page.keyboard.press("Tab");
    const at = await waitForFocusIndicator(page);
    passed.push(at.name);
    if (at.tag !== "body" && !(at.seen && at.marked))
      throw new Error(`The focus on ${at.name} is not visible, after ${passed.join(", ")}`);
    if (at.name === name) return;
  }
  throw new Error(`Tab does not reach ${name}, only ${passed.join(", ")}`);
}

/** More tab stops than any page has. */
const MAX_TAB_STOPS = 150;

describe("keyboard navigation", () => {
  it("signs in, skips to the content, creates a key, and restores the focus", async () => {
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

    await tabTo(page, "Skip to content");
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
    // The list highlights its value a moment after it has opened.
    const highlighted = page.locator('[role="option"][data-combobox-selected]');
    await untilPassing(async () => {
      await page.keyboard.press("ArrowDown");
      expect(await highlighted.innerText()).not.toBe("In 90 days");
    });
    await page.keyboard.press("Enter");
    await page.getByRole("option").first().waitFor({ state: "detached" });
    await tabTo(page, "Create");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: 'API key "by keyboard"' }).waitFor();
    await takeScreenshot(page, "a-key-shown-once");
    await tabTo(page, "Done, I've saved it");
    await page.keyboard.press("Enter");
    const row = page.getByRole("row", { name: /^by keyboard .*in \d+ days/ });
    expect(await row.innerText()).not.toMatch(/in (89|90) days/);
    expect((await focused(page)).name).toBe("Create New API Key");
  });

  it("leaves the editor, and is not trapped on any page", async () => {
    const { site, ann, pages } = await openSeededSite();
    const { page, visit } = await openWindow(await openBrowser(), site, ann);
    await visit(pages["/workflows/:workflowId/edit"]!);
    await page.getByRole("textbox", { name: /^Definition of / }).focus();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect((await focused(page)).name).not.toMatch(/^Definition of /);
    const issues: string[] = [];
    for (const [name, path] of Object.entries(pages)) {
      // Pages with an editor are left by Escape and Tab, as above.
      if (name.endsWith("/edit") || name.endsWith("/retry")) continue;
      await visit(path);
      const passed: string[] = [];
      // One round: from the first stop until the first again, or until the focus leaves the page.
      for (;;) {
        await page.keyboard.press("Tab");
        const at = await waitForFocusIndicator(page);
        if (passed.length > 0 && (at.tag === "body" || at.name === "Skip to content")) break;
        passed.push(at.name);
        if (!at.seen || !at.marked)
          issues.push(`${name}: the focus on ${at.name} (${at.tag}) is not visible`);
        if (passed.length < MAX_TAB_STOPS) continue;
        issues.push(`${name} traps the focus: ${passed.slice(-5).join(", ")}`);
        break;
      }
      if (passed[0] !== "Skip to content") issues.push(`${name} starts with ${passed[0]}`);
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

/** The lists: path of the page, path of the request, and the text of the empty state. */
const LISTS = [
  { path: "/workflows", request: "/workflows", empty: "No workflows yet." },
  { path: "/runs", request: "/runs", empty: "No runs yet" },
  { path: "/approvals", request: "/approvals", empty: "No approvals are pending" },
  { path: "/keys", request: "/api-keys", empty: "You have no keys" },
  { path: "/people?search=nobody", request: "/users", empty: "No matching people" },
  { path: "/audit?search=nothing-like-it", request: "/audit-log", empty: "No matching entries" },
] as const;

describe("a list", () => {
  it("shows that it loads, that it failed, and that it is empty, and retries on request", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    const browser = await openBrowser();
    await Promise.all(
      LISTS.map(async ({ path, request, empty }) => {
        const { page } = await openWindow(browser, site, ann);
        let response = Promise.withResolvers<void>();
        let fails = true;
        await page.route(
          (url) => url.pathname === request,
          async (route) => {
            await response.promise;
            if (!fails) return route.continue();
            return route.fulfill({ status: 503, contentType: "application/problem+json", json: PROBLEM });
          },
        );
        await page.goto(`${site.url}/ui${path}`);
        await page.getByRole("status", { name: "Loading" }).first().waitFor();
        response.resolve();
        const alert = page
          .getByRole("alert")
          .filter({ hasText: "The store is busy. Ask again in a moment." });
        await alert.waitFor();
        await takeScreenshot(page, `${fileName(path)}-error`);
        fails = false;
        response = Promise.withResolvers<void>();
        await alert.getByRole("button", { name: "Try again" }).click();
        response.resolve();
        await page.getByText(empty).first().waitFor();
        await alert.waitFor({ state: "detached" });
        await takeScreenshot(page, `${fileName(path)}-empty`);
        expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
      }),
    );
  });

  it("shows an error when the server cannot be reached", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    const { page, visit } = await openWindow(await openBrowser(), site, ann);
    await visit("/keys");
    await site.program.stop("SIGKILL");
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    const alert = page.getByRole("alert").filter({ hasText: /can't be reached|Reload the page/ });
    await alert.first().waitFor();
    expect(
      await alert
        .first()
        .getByRole("button")
        .or(page.getByRole("button", { name: /^(Reload page|Try now)$/ }))
        .count(),
    ).toBeGreaterThan(0);
  });
});
