import type { Page, Response } from "playwright-core";
import { describe, expect, it } from "vitest";
import * as home from "../../src/web/messages/generated/de/home.ts";
import { testInstance } from "../support/instance.ts";
import { insertWorkflows } from "../support/many-workflows.ts";
import {
  requestApi,
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  WAIT_TIMEOUT_MS,
  waitUntilLoaded,
  signIn,
  signInInGerman,
  type Site,
} from "../support/web.ts";

/** Logs a measurement. */
const logFigure = (name: string, figure: number, unit: string): void =>
  console.log(`${name}: ${figure.toLocaleString("en", { maximumFractionDigits: 1 })} ${unit}`);

const KB = 1_000;

/** How often a time is measured. Other programs only add to it. */
const TRIES = 3;

/** Measures a time, again while it is above its limit. @returns the shortest, in the unit of the measurement */
async function shortest(limit: number, measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  do times.push(await measure());
  while (times.at(-1)! >= limit && times.length < TRIES);
  return Math.min(...times);
}

/** Watches the scripts and styles that a page loads. @returns a function that gives their number, transferred bytes and uncompressed files */
function watchCode(page: Page) {
  const responses: Response[] = [];
  page.on("response", (response) => {
    if (/\.(js|css)$/.test(new URL(response.url()).pathname)) responses.push(response);
  });
  return async () => {
    const sizes = await Promise.all(
      responses.map(async (response) => (await response.request().sizes()).responseBodySize),
    );
    return {
      files: responses.length,
      bytes: sizes.reduce((sum, size) => sum + size, 0),
      plain: responses
        .filter((response) => response.headers()["content-encoding"] !== "br")
        .map((response) => new URL(response.url()).pathname),
    };
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

describe("the first page", () => {
  it.each([
    { language: "en", locale: "en-GB", title: "Home", submit: signIn },
    { language: "de", locale: "de-DE", title: home.title, submit: signInInGerman },
  ])(
    "is less than 250 KB of code and styles, compressed with Brotli, before and after signing in: $language",
    async ({ language, locale, title, submit }) => {
      const site = await openSite({ workers: 0 });
      const ann = await createFirstAdmin(site);
      const browser = await openBrowser();
      const { page, visit } = await openWindow(browser, site, undefined, { locale });
      const code = watchCode(page);
      await visit("/sign-in");
      expect(await page.locator("html").getAttribute("lang")).toBe(language);
      const before = await code();
      logFigure(`sign-in, ${before.files} files`, before.bytes / KB, "KB of Brotli");
      const signedIn = await openWindow(browser, site, ann, { locale });
      const homeCode = watchCode(signedIn.page);
      await signedIn.visit("/");
      const after = await homeCode();
      logFigure(`home, ${after.files} files`, after.bytes / KB, "KB of Brotli");
      for (const { bytes, plain } of [before, after]) {
        expect(bytes).toBeGreaterThan(50 * KB);
        expect(bytes).toBeLessThan(250 * KB);
        // This file is too small to compress.
        expect(plain.filter((path) => path !== "/ui/color-scheme.js")).toEqual([]);
      }
      // Files that were loaded before are not requested again.
      const again = watchCode(page);
      await submit(page, ann.email);
      await heading(page, title).waitFor();
      await waitUntilLoaded(page);
      logFigure("from sign-in to home", (await again()).bytes / KB, "KB of Brotli");
      expect((await again()).bytes + before.bytes).toBeLessThan(250 * KB);
    },
  );

  it("can be used within a second", async () => {
    const site = await openSite({ workers: 0 });
    await createFirstAdmin(site);
    const browser = await openBrowser();
    const measure = async (): Promise<number> => {
      const times: number[] = [];
      for (let turn = 0; turn < 5; turn += 1) {
        const { page } = await openWindow(browser, site);
        const start = performance.now();
        await page.goto(`${site.url}/ui/`, { waitUntil: "commit" });
        await page.getByLabel("E-mail address").fill("ann@example.com");
        times.push(performance.now() - start);
        await page.context().close();
      }
      logFigure(`interactive, of ${times.map(Math.round).join(", ")}`, median(times), "ms");
      return median(times);
    };
    // The budget is 1 s on a machine that does nothing else.
    expect(await shortest(3_000, measure)).toBeLessThan(3_000);
  });
});

interface Frames {
  frames: number[];
  long: number[];
}

/** Starts to record the duration of each frame and each long task, in milliseconds. */
const watchFrames = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const global = globalThis as unknown as Frames & Animated;
    global.frames = [];
    global.long = [];
    new global.PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) global.long.push(duration);
    }).observe({ type: "longtask" });
    let last = performance.now();
    const next = (now: number): void => {
      global.frames.push(now - last);
      last = now;
      global.requestAnimationFrame(next);
    };
    global.requestAnimationFrame(next);
  });

interface Animated {
  requestAnimationFrame(callback: (now: number) => void): void;
  PerformanceObserver: new (callback: (list: { getEntries(): { duration: number }[] }) => void) => {
    observe(options: { type: string }): void;
  };
}

const framesOf = (page: Page): Promise<Frames> =>
  page.evaluate(() => {
    const { frames, long } = globalThis as unknown as Frames;
    return { frames, long };
  });

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;

describe("a list of 5,000 workflows", () => {
  it("scrolls smoothly to its end, and renders few rows at a time", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    await insertWorkflows(await testInstance({ stateDir: site.stateDir }), { count: 5_000 });
    const { page, visit, problems } = await openWindow(await openBrowser(), site, ann);
    const measure = async (): Promise<number> => {
      await visit("/workflows");
      await page.getByText("5,000 workflows").waitFor();
      await page.mouse.move(700, 600);
      await watchFrames(page);
      const start = performance.now();
      const last = page.locator('[aria-posinset="5000"]');
      while ((await last.count()) === 0) {
        expect(performance.now() - start).toBeLessThan(3 * WAIT_TIMEOUT_MS);
        await page.mouse.wheel(0, 4_000);
        await page.evaluate(
          () =>
            new Promise<void>((seen) =>
              (globalThis as unknown as Animated).requestAnimationFrame(() => seen()),
            ),
        );
      }
      await last.scrollIntoViewIfNeeded();
      const { frames, long } = await framesOf(page);
      logFigure("to the end", performance.now() - start, "ms");
      logFigure(`frames, ${frames.length} of them, 95th percentile`, percentile(frames, 0.95), "ms");
      logFigure(`long tasks, ${long.length} of them, the longest`, Math.max(0, ...long), "ms");
      expect(await page.getByRole("main").getByRole("listitem").count()).toBeLessThan(100);
      return percentile(frames, 0.95);
    };
    // Smooth is 50 ms on a machine that does nothing else.
    expect(await shortest(250, measure)).toBeLessThan(250);
    expect(problems).toEqual([]);
  });
});

/** A definition with this many steps in layers of ten. Each step depends on two of the previous layer. */
const largeDefinition = (count: number) => ({
  steps: Array.from({ length: count }, (_, index) => ({
    id: `step_${index}`,
    type: "set",
    values: { index },
    needs:
      index < 10
        ? []
        : [index - 10, index - 10 - (index % 10) + ((index + 3) % 10)].map((earlier) => `step_${earlier}`),
  })),
});

/** Records how long the web workers of a page take from a request to its response, in milliseconds. */
const watchWorkers = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const global = globalThis as unknown as {
      Worker: new (...args: unknown[]) => MessageTarget;
      workerTimes: number[];
    };
    global.workerTimes = [];
    global.Worker = class extends global.Worker {
      constructor(...args: unknown[]) {
        super(...args);
        let postedAt = 0;
        const post = this.postMessage.bind(this);
        this.postMessage = (message) => {
          postedAt = performance.now();
          post(message);
        };
        this.addEventListener("message", () => {
          if (postedAt > 0) global.workerTimes.push(performance.now() - postedAt);
        });
      }
    };
  });

interface MessageTarget {
  postMessage(message: unknown): void;
  addEventListener(name: string, listener: () => void): void;
}

async function openLarge(site: Site, count: number) {
  const ann = await createFirstAdmin(site);
  const { id } = await requestApi(ann, "POST", "/workflows", {
    name: `Large ${count}`,
    definition: largeDefinition(count),
  });
  const window = await openWindow(await openBrowser(), site, ann);
  return { id, ann, ...window };
}

describe("a graph", () => {
  it("of 500 steps is laid out by a worker in time", async () => {
    const { id, page, visit } = await openLarge(await openSite({ workers: 0 }), 500);
    await watchWorkers(page);
    const measure = async (): Promise<number> => {
      const start = performance.now();
      await visit(`/workflows/${id}`);
      await page.locator(".react-flow__node").first().waitFor();
      logFigure("500 steps drawn, the page included, after", performance.now() - start, "ms");
      const [layoutTime] = await page.evaluate(
        () => (globalThis as unknown as { workerTimes: number[] }).workerTimes,
      );
      logFigure("their layout took", layoutTime!, "ms");
      return layoutTime!;
    };
    // The budget is 2 s on a machine that does nothing else. A test of `computeLayout` limits the processor time.
    expect(await shortest(6_000, measure)).toBeLessThan(6_000);
  });

  it("that is too large to draw says so, and the run shows its timeline instead", async () => {
    const site = await openSite();
    const { id, ann, page, visit } = await openLarge(site, 1_001);
    await visit(`/workflows/${id}`);
    await page.getByText(/^1001 steps are too many to draw/).waitFor();
    await page.getByLabel("Filter steps").fill("step_998");
    await page.getByRole("button", { name: /^step_998/ }).click();
    await page.getByText(/^id: step_998/m).waitFor();
    const run = await requestApi(ann, "POST", `/workflows/${id}/runs`, { inputs: {} });
    await visit(`/runs/${run.id}`);
    await page.getByRole("tab", { name: "Timeline", selected: true }).waitFor();
    await page.getByText("step_0", { exact: true }).first().waitFor();
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.getByText(/^1001 steps are too many to draw/).waitFor();
    expect(await page.locator(".react-flow__node").count()).toBe(0);
  });
});
