/** A browser that has never been used and reaches nothing but what the test serves. */
import { chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "./instance.ts";

const EXECUTABLE = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export interface MonitoredPage {
  page: Page;
  /** What the page complained of: errors, warnings, violations of its policy, requests that failed. */
  problems: string[];
  /** The hosts it asked. */
  requestedHosts: Set<string>;
}

/** How Chromium is started. */
export const LAUNCH_OPTIONS = {
  executablePath: EXECUTABLE,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-sync",
  ],
};

/** Opens a page in a profile of its own. */
export async function openPage(): Promise<MonitoredPage> {
  const context = await chromium.launchPersistentContext(temporaryDirectory(), {
    ...LAUNCH_OPTIONS,
    viewport: { width: 1280, height: 1000 },
  });
  onTestFinished(() => context.close());
  return monitorPage(context.pages()[0] ?? (await context.newPage()));
}

/**
 * Writes down what a page complains of and whom it asks.
 * @param isFine what is no complaint, by what is said and the address that it is said of
 */
export function monitorPage(
  page: Page,
  isFine: (text: string, url: string) => boolean = () => false,
): MonitoredPage {
  const problems: string[] = [];
  const requestedHosts = new Set<string>();
  const complain = (text: string, url: string): void => {
    if (!isFine(text, url)) problems.push(`${url}: ${text}`);
  };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      complain(message.text(), message.location().url);
  });
  page.on("pageerror", (error) => complain(String(error), page.url()));
  page.on("requestfailed", (request) => complain(request.failure()?.errorText ?? "failed", request.url()));
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== "data:") requestedHosts.add(host);
  });
  return { page, problems, requestedHosts };
}
