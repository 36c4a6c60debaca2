/** The interface from right to left. No language of it is written so yet: the test turns the page that the server sends. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  type BrowserWindow,
  createFirstAdmin,
  openBrowser,
  openSeededSite,
  openSite,
  openWindow,
  type Person,
  requestApi,
  SIGNED_OUT_PAGES,
  takeScreenshot,
  waitUntilLoaded,
} from "../support/web.ts";

const WIDE = { width: 1440, height: 900 };
/** The width of a phone. */
const NARROW = { width: 390, height: 844 };

/** All pages in two sizes take long on a busy machine. */
const LONG_MS = 900_000;

/** A note of CodeMirror on the console. */
const MEASURED_AGAIN = /Measure loop restarted more than 5 times$/;

const HEBREW = "דוח הכנסות חודשי לפי אזור";
const ARABIC = "تقرير المبيعات الشهري حسب المنطقة";

interface Rect {
  left: number;
  right: number;
  top: number;
  bottom: number;
  width: number;
  height: number;
}

interface Element {
  tagName: string;
  innerText?: string;
  parentElement: Element | null;
  children: ArrayLike<Element>;
  getBoundingClientRect(): Rect;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  contains(other: Element): boolean;
  closest(selector: string): Element | null;
  checkVisibility(options: { opacityProperty: boolean; visibilityProperty: boolean }): boolean;
  querySelectorAll(selector: string): Iterable<Element>;
}

interface Dom {
  MutationObserver: new (callback: () => void) => {
    observe(node: object, options: { childList: boolean }): void;
  };
  document: Element & {
    documentElement: Element & { dir: string; scrollWidth: number; clientWidth: number };
    querySelector(selector: string): Element | null;
    getAnimations(): {
      effect: { getComputedTiming(): { endTime: number } } | null;
      finished: Promise<unknown>;
    }[];
  };
  requestAnimationFrame(callback: (now: number) => void): void;
  getComputedStyle(element: Element): { direction: string; textAlign: string };
  innerWidth: number;
}

/** Turns each page before its scripts run. */
async function turn({ page }: BrowserWindow): Promise<void> {
  await page.addInitScript(() => {
    const { document, MutationObserver } = globalThis as unknown as Dom;
    const setDirection = (): void => {
      const root = document.querySelector("html");
      root?.setAttribute("dir", "rtl");
    };
    new MutationObserver(setDirection).observe(document, { childList: true });
    setDirection();
  });
}

/** Waits until the page has its layout for the size of the window, and nothing on it moves. */
const waitUntilStill = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const { document, requestAnimationFrame } = globalThis as unknown as Dom;
    for (let frame = 0; frame < 3; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
    await Promise.all(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
        .map(({ finished }) => finished.catch(() => undefined)),
    );
  });

/* oxlint-disable unicorn/consistent-function-scoping -- the browser gets only what is inside of the function */
/** @returns what is wrong with the layout of the current page */
const layoutIssues = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { document, getComputedStyle, innerWidth } = globalThis as unknown as Dom;
    const issues: string[] = [];
    const { dir, scrollWidth, clientWidth } = document.documentElement;
    if (dir !== "rtl") issues.push(`the page is ${dir}`);
    if (scrollWidth > clientWidth)
      issues.push(`the page is ${scrollWidth - clientWidth} px wider than its window`);

    const nameOf = (element: Element): string =>
      `${element.tagName.toLowerCase()} "${(element.getAttribute("aria-label") ?? element.innerText ?? "").trim().slice(0, 40)}"`;
    const isVisible = (element: Element): boolean => {
      const { width, height } = element.getBoundingClientRect();
      return (
        width > 1 &&
        height > 1 &&
        element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
      );
    };
    const all = (within: Element, selector: string): Element[] =>
      [...within.querySelectorAll(selector)].filter(isVisible);
    const overlaps = (a: Rect, b: Rect): boolean =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    const reportOverlaps = (elements: readonly Element[]): void => {
      for (const [index, one] of elements.entries()) {
        for (const other of elements.slice(index + 1)) {
          if (one.contains(other) || other.contains(one)) continue;
          if (overlaps(one.getBoundingClientRect(), other.getBoundingClientRect()))
            issues.push(`${nameOf(one)} overlaps ${nameOf(other)}`);
        }
      }
    };

    const header = document.querySelector(".mantine-AppShell-header");
    if (header !== null) {
      const inHeader = all(header, "button, a, img, p");
      for (const element of inHeader) {
        const { left, right } = element.getBoundingClientRect();
        if (left < 0 || right > innerWidth) issues.push(`${nameOf(element)} is not within the header`);
      }
      reportOverlaps(inHeader);
      const home = all(header, '[aria-label="Millrace, home"]')[0]!;
      const user = all(header, '[aria-label^="User menu"]')[0]!;
      if (home.getBoundingClientRect().left < user.getBoundingClientRect().left)
        issues.push("the header begins on the left");
    }

    const main = document.querySelector("main") ?? document.documentElement;
    const navigation = document.querySelector(".mantine-AppShell-navbar");
    const content = all(main, "h1, h2, h3, p, button, input, table, pre").filter(
      // Without what a scrolled area hides, what the graph draws, and the buttons in fields.
      (element) =>
        element.closest(
          '.react-flow, .mantine-ScrollArea-viewport, .cm-editor, [aria-hidden], [class*="Input-section"]',
        ) === null,
    );
    if (navigation !== null && isVisible(navigation)) {
      const { left, right } = navigation.getBoundingClientRect();
      // On a phone it waits outside of the window.
      if (innerWidth > 800) {
        if (right < innerWidth - 1 || left < innerWidth / 2)
          issues.push("the navigation is not on the right");
        for (const element of content)
          if (element.getBoundingClientRect().right > left)
            issues.push(`${nameOf(element)} is under the navigation`);
      } else if (left < innerWidth && right > 0) issues.push("the navigation covers the page");
    }
    for (const element of content) {
      const { left, right } = element.getBoundingClientRect();
      if (left < -1 || right > innerWidth + 1) issues.push(`${nameOf(element)} is not within the window`);
    }
    reportOverlaps(content.filter(({ tagName }) => /^(?:H[1-3]|BUTTON|INPUT)$/.test(tagName)));

    const heading = all(main, "h1")[0];
    if (heading !== undefined && getComputedStyle(heading).direction !== "rtl")
      issues.push(`${nameOf(heading)} is left to right`);
    for (const element of all(document, "code, pre, .cm-content, .react-flow, [class*=tree]")) {
      const { direction, textAlign } = getComputedStyle(element);
      if (direction !== "ltr") issues.push(`${nameOf(element)} is right to left`);
      if (textAlign === "right" && element.tagName === "PRE")
        issues.push(`${nameOf(element)} is aligned to the right`);
    }
    return [...new Set(issues)];
  });

/* oxlint-enable unicorn/consistent-function-scoping */

/** Checks the current page in both sizes. @returns everything that is wrong with it */
async function issuesOf({ page }: BrowserWindow, name: string): Promise<string[]> {
  const issues: string[] = [];
  for (const [size, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    await page.setViewportSize(viewport);
    await waitUntilLoaded(page);
    await waitUntilStill(page);
    issues.push(...(await layoutIssues(page)).map((issue) => `${name} (${size}): ${issue}`));
    await takeScreenshot(page, `rtl-${name.replaceAll(/[^a-z0-9]+/gi, "-")}-${size}`);
  }
  await page.setViewportSize(WIDE);
  return issues;
}

const DEFINITION = {
  steps: [
    { id: "first", type: "set", values: { text: HEBREW } },
    { id: "second", type: "set", values: { text: "${{ steps.first.text }}" } },
  ],
  output: "${{ steps.second.text }}",
};

/** @returns the path of a workflow and of its run, both with names and texts that are written from right to left */
async function addRightToLeftContent(author: Person): Promise<{ workflow: string; run: string }> {
  const workflow = { description: `${HEBREW} (API v2).`, tags: ["דוחות"], definition: DEFINITION };
  const { id } = await requestApi(author, "POST", "/workflows", { name: HEBREW, ...workflow });
  await requestApi(author, "POST", "/workflows", { name: ARABIC, ...workflow });
  const run = await requestApi(author, "POST", `/workflows/${id}/runs`, { inputs: {}, wait: 30 });
  return { workflow: `/workflows/${id}`, run: `/runs/${run.id}` };
}

describe("a page from right to left", () => {
  it("keeps its layout in a wide and a narrow window", { timeout: LONG_MS }, async () => {
    const { site, ann, ben, pages } = await openSeededSite();
    const { workflow, run } = await addRightToLeftContent(ben);
    const browser = await openBrowser();
    const window = await openWindow(browser, site, ann, { viewport: WIDE });
    await turn(window);
    const issues: string[] = [];
    const named = {
      ...pages,
      "a workflow in Hebrew": workflow,
      "its definition": `${workflow}/edit`,
      "its run": run,
      "its timeline": `${run}?tab=timeline`,
      "its steps": `${run}?tab=steps`,
    };
    for (const [name, path] of Object.entries(named)) {
      await window.visit(path);
      issues.push(...(await issuesOf(window, name)));
    }
    const out = await openWindow(browser, site, undefined, { viewport: WIDE });
    await turn(out);
    for (const path of SIGNED_OUT_PAGES) {
      await out.visit(path);
      issues.push(...(await issuesOf(out, path)));
    }
    expect(issues).toEqual([]);
    // The editor measures its lines again while a busy machine lays out the page, and says so.
    const problems = [...window.problems, ...out.problems].filter((problem) => !MEASURED_AGAIN.test(problem));
    expect(problems).toEqual([]);
  });

  it("opens menus and the navigation on their side, and draws code, graph and time from left to right", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    const { workflow, run } = await addRightToLeftContent(ann);
    const window = await openWindow(await openBrowser(), site, ann, { viewport: WIDE });
    await turn(window);
    const { page, visit } = window;
    const boxOf = async (selector: string) => (await page.locator(selector).first().boundingBox())!;

    await visit("/workflows");
    for (const name of [HEBREW, ARABIC]) await page.getByRole("link", { name, exact: true }).waitFor();
    await page.getByRole("button", { name: /^User menu of / }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
    const menu = (await page.getByRole("menu").boundingBox())!;
    expect(menu.x).toBeGreaterThanOrEqual(0);
    expect(menu.x).toBeLessThan(100);
    await takeScreenshot(page, "rtl-user-menu");
    await page.keyboard.press("Escape");

    await page.setViewportSize(NARROW);
    const burger = page.getByRole("button", { name: "Open menu" });
    expect((await burger.boundingBox())!.x).toBeGreaterThan(NARROW.width / 2);
    await burger.click();
    await page
      .getByRole("navigation", { name: "Main", exact: true })
      .getByRole("link", { name: "Runs" })
      .click();
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    await page.setViewportSize(WIDE);

    await visit(`${workflow}/edit`);
    await page.locator(".cm-content").first().waitFor();
    const [gutters, content] = [await boxOf(".cm-gutters"), await boxOf(".cm-content")];
    expect(gutters.x).toBeLessThan(content.x);
    const line = await boxOf(".cm-line");
    expect(line.x).toBeLessThan(content.x + 10);

    await visit(workflow);
    const card = (id: string) => boxOf(`.react-flow__node[data-id="${id}"]`);
    const [first, second] = [await card("first"), await card("second")];
    expect([first.x < second.x, first.y < second.y]).toContain(true);
    expect(first.x).toBeLessThanOrEqual(second.x);

    await visit(run);
    await page.getByRole("tab", { name: "Timeline" }).click();
    const row = page.locator('[data-step="first"]');
    await row.waitFor();
    const name = (await row.getByText("first", { exact: true }).last().boundingBox())!;
    const bounds = (await row.boundingBox())!;
    expect(name.x - bounds.x).toBeLessThan(60);
    await takeScreenshot(page, "rtl-timeline");
    expect(window.problems).toEqual([]);
  });
});
