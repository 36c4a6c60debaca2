/** The page of a link that decides, in a real browser without scripts. */
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { LAUNCH_OPTIONS } from "../../support/browser.ts";
import { openDecisions, PAYMENT } from "../../support/decisions.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const FORM = {
  type: "object",
  properties: {
    budget: { type: "number", title: "Budget", description: "At most", minimum: 0 },
    account: { type: "string", enum: ["main", "travel"] },
    urgent: { type: "boolean" },
  },
  required: ["budget"],
};

describe("the page of a link that decides", () => {
  it("is accessible, fits a phone in light and dark, and decides without scripts", async () => {
    const [ask, ...rest] = PAYMENT.steps;
    const opened = await openDecisions({
      definition: { ...PAYMENT, steps: [{ ...ask, form: FORM }, ...rest] },
    });
    const { run } = await opened.ask();
    const url = opened.url + (await opened.link());
    const browser = await chromium.launch(LAUNCH_OPTIONS);
    onTestFinished(() => browser.close());
    const shots = process.env["SCREENSHOTS"];
    if (shots !== undefined) mkdirSync(shots, { recursive: true });
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [1440, 390]) {
        // The policy of the page allows no script; the checker needs one.
        const context = await browser.newContext({
          colorScheme,
          viewport: { width, height: 900 },
          bypassCSP: true,
        });
        const page = await context.newPage();
        const requests: string[] = [];
        page.on("request", (request) => requests.push(request.url()));
        await page.goto(url);
        expect(requests.filter((one) => !one.endsWith("/favicon.ico"))).toEqual([url]);
        if (shots !== undefined)
          await page.screenshot({ path: `${shots}/decide-${colorScheme}-${width}.png`, fullPage: true });
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        await page.addScriptTag({ content: AXE });
        const violations = await page.evaluate(async () => {
          const { axe } = globalThis as unknown as {
            axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
          };
          return (await axe.run()).violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
        });
        expect(violations).toEqual([]);
        await context.close();
      }
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(url);
    await page.getByLabel("Budget").fill("5");
    await page.getByLabel("account (optional)").selectOption("travel");
    await page.getByLabel("Comment (optional)").fill("Fine.");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Approved" }).waitFor();
    expect(page.url()).toBe(url);
    await opened.proceed();
    const { body } = await opened.call("GET", `/runs/${run}`);
    expect(body.output).toMatchObject({
      approved: true,
      comment: "Fine.",
      form: { budget: 5, account: "travel", urgent: false },
    });
  });
});
