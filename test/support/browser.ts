/** A browser that has never been used and reaches nothing but what the test serves. */
import { chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "./instance.ts";

const EXECUTABLE = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export interface Watched {
  page: Page;
  /** What the page complained of: errors, warnings, violations of its policy, requests that failed. */
  complaints: string[];
  /** The hosts it asked. */
  hosts: Set<string>;
}

/** How Chromium is started. */
export const LAUNCH = {
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
export async function openPage(): Promise<Watched> {
  const context = await chromium.launchPersistentContext(temporaryDirectory(), {
    ...LAUNCH,
    viewport: { width: 1280, height: 1000 },
  });
  onTestFinished(() => context.close());
  return watch(context.pages()[0] ?? (await context.newPage()));
}

/** Writes down what a page complains of and whom it asks. */
export function watch(page: Page): Watched {
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== "data:") hosts.add(host);
  });
  return { page, complaints, hosts };
}
