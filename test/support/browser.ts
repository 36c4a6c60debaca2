/** A browser with a new profile that can reach only the servers of the test. */
import { existsSync } from "node:fs";
import { chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "./instance.ts";

/** Debian's Chromium without a user interface starts with a third of the processor time. */
const SHELL = "/usr/bin/chromium-headless-shell";
const EXECUTABLE = process.env["CHROMIUM"] ?? (existsSync(SHELL) ? SHELL : "/usr/bin/chromium");

export interface MonitoredPage {
  page: Page;
  /** Errors, warnings, policy violations and failed requests of the page. */
  problems: string[];
  /** The hosts that the page sent requests to. */
  requestedHosts: Set<string>;
}

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

/** Opens a page in a new profile. */
export async function openPage(): Promise<MonitoredPage> {
  const context = await chromium.launchPersistentContext(temporaryDirectory(), {
    ...LAUNCH_OPTIONS,
    viewport: { width: 1280, height: 1000 },
  });
  onTestFinished(() => context.close());
  return monitorPage(context.pages()[0] ?? (await context.newPage()));
}

/**
 * Records a page's errors and the hosts of its requests.
 * @param isFine whether to ignore an error, by its message and address
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
