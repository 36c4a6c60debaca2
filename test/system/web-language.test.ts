/** The interface in German, in the browser of somebody who has not chosen a language yet, and of somebody who has. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import * as account from "../../src/web/messages/generated/de/account.ts";
import * as app from "../../src/web/messages/generated/de/app.ts";
import * as editor from "../../src/web/messages/generated/de/editor.ts";
import * as home from "../../src/web/messages/generated/de/home.ts";
import * as runs from "../../src/web/messages/generated/de/runs.ts";
import * as ui from "../../src/web/messages/generated/de/ui.ts";
import * as values from "../../src/web/messages/generated/de/values.ts";
import * as workflows from "../../src/web/messages/generated/de/workflows.ts";
import { accessibilityIssues } from "../support/accessibility.ts";
import {
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  signIn,
  signInInGerman,
  waitUntilLoaded,
} from "../support/web.ts";

const VIENNA = { locale: "de-AT", timezoneId: "Europe/Vienna" };
const BERLIN = { locale: "de-DE", timezoneId: "Europe/Berlin" };
const LONDON = { locale: "en-GB", timezoneId: "Europe/London" };

/** The language that a page names to the browser and to screen readers. */
const languageOf = (page: Page): Promise<string | null> => page.locator("html").getAttribute("lang");

async function reload(page: Page): Promise<void> {
  await page.reload();
  await waitUntilLoaded(page);
}

describe("the language of the interface", () => {
  it("follows the browser, and then the choice on the sign-in page and in the user menu", async () => {
    const site = await openSite({ workers: 0 });
    const ann = await createFirstAdmin(site);
    const { page, visit, problems } = await openWindow(await openBrowser(), site, undefined, VIENNA);
    await visit("/sign-in");
    await heading(page, account.signIn).waitFor();
    expect(await languageOf(page)).toBe("de");
    expect(await accessibilityIssues(page)).toEqual([]);

    await page.getByRole("button", { name: "English" }).click();
    await heading(page, "Sign in").waitFor();
    expect(await languageOf(page)).toBe("en");
    await page.getByRole("button", { name: "English" }).and(page.locator('[aria-current="true"]')).waitFor();
    await reload(page);
    await heading(page, "Sign in").waitFor();
    await signIn(page, ann.email);
    await heading(page, "Home").waitFor();
    await reload(page);
    await heading(page, "Home").waitFor();
    expect(await languageOf(page)).toBe("en");

    await page.getByRole("button", { name: `User menu of ${ann.email}` }).click();
    await page.getByRole("menuitem", { name: "Deutsch" }).click();
    await heading(page, home.title).waitFor();
    expect(await languageOf(page)).toBe("de");
    await reload(page);
    await heading(page, home.title).waitFor();

    // The choice belongs to the browser, not to the session.
    await page.getByRole("button", { name: app.userMenu({ email: ann.email }) }).click();
    await page.getByRole("menuitem", { name: app.signOut }).click();
    await heading(page, account.signIn).waitFor();
    await reload(page);
    await signInInGerman(page, ann.email);
    await heading(page, home.title).waitFor();
    expect(await languageOf(page)).toBe("de");
    expect(problems).toEqual([]);
  });

  it("decides how dates and numbers are written", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    const { id } = await requestApi(ann, "POST", "/workflows", {
      name: "Regions",
      definition: {
        steps: [
          { id: "pause", type: "wait", for: "1s" },
          {
            id: "rows",
            type: "set",
            needs: ["pause"],
            values: {
              list: [
                { region: "north", revenue: 17.25 },
                { region: "west", revenue: 1_234.5 },
                { region: "south", revenue: 1_000 },
              ],
            },
          },
        ],
        output: "${{ steps.rows.list }}",
      },
    });
    const run = await requestApi<{ id: string; created_at: string; status: string }>(
      ann,
      "POST",
      `/workflows/${id}/runs`,
      { inputs: {}, wait: 30 },
    );
    expect(run.status).toBe("succeeded");
    const browser = await openBrowser();
    for (const { options, language, output, chart, number, duration } of [
      {
        options: BERLIN,
        language: "de",
        output: runs.outputOfRun,
        chart: values.chart,
        number: "1.234,5",
        duration: /^\d,\d s$/,
      },
      {
        options: LONDON,
        language: "en",
        output: "Output of the run",
        chart: "Chart",
        number: "1,234.5",
        duration: /^\d\.\d s$/,
      },
    ]) {
      const { page, visit, problems } = await openWindow(browser, site, ann, options);
      await visit(`/runs/${run.id}`);
      expect(await languageOf(page)).toBe(language);
      const date = new Intl.DateTimeFormat(options.locale, {
        dateStyle: "medium",
        timeStyle: "medium",
        timeZone: options.timezoneId,
      });
      await page
        .getByRole("time")
        .getByText(date.format(Date.parse(run.created_at)))
        .first()
        .waitFor();
      await page.getByText(duration).first().waitFor();
      const region = page.getByRole("region", { name: output });
      await region.getByText(chart, { exact: true }).click();
      await region.getByRole("img").first().hover();
      await region.getByText(number, { exact: true }).waitFor();
      expect(problems).toEqual([]);
    }
  });
});

describe("a task in German", () => {
  it("is done from the template of a workflow to the result of its run", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    const { page, visit, problems } = await openWindow(await openBrowser(), site, ann, BERLIN);
    await visit("/workflows");
    await page.getByRole("link", { name: workflows.newWorkflow }).first().click();
    await heading(page, workflows.newWorkflow).waitFor();
    await page.getByRole("radio", { name: workflows.queryTitle }).click();
    await page.getByRole("textbox", { name: new RegExp(`^${workflows.name}`) }).fill("Umsatz");
    await page.getByRole("button", { name: workflows.createAndEdit }).click();
    await heading(page, workflows.editTitle({ name: "Umsatz" })).waitFor();
    await page.getByText(editor.valid).waitFor();
    await waitUntilLoaded(page);
    expect(await accessibilityIssues(page)).toEqual([]);

    await page.getByRole("link", { name: workflows.back, exact: true }).click();
    await heading(page, "Umsatz").waitFor();
    await page.getByRole("link", { name: workflows.runButton, exact: true }).click();
    await page.getByRole("button", { name: workflows.runVersion({ version: 1 }) }).click();
    await heading(page, runs.runOf({ name: "Umsatz" })).waitFor();
    const succeeded = ui.status({ status: "succeeded" });
    await page.getByRole("main").getByText(succeeded, { exact: true }).first().waitFor();
    await page.getByRole("region", { name: runs.outputOfRun }).getByText("west").first().waitFor();
    await waitUntilLoaded(page);
    expect(await accessibilityIssues(page)).toEqual([]);
    expect(await languageOf(page)).toBe("de");
    expect(problems).toEqual([]);
  });
});
