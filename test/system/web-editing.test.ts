import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { accessibilityIssues } from "../support/accessibility.ts";
import {
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  requestApi,
  takeScreenshot,
} from "../support/web.ts";

const DEFINITION = {
  inputs: { type: "object", properties: { region: { type: "string", default: "north" } } },
  steps: [
    {
      id: "revenue",
      type: "sql",
      query: "SELECT region\nFROM customers\nWHERE region = :region\n",
      params: { region: "${{ inputs.region }}" },
    },
  ],
};

interface EditorOptions {
  workers?: number;
  mail?: boolean;
  definition?: object;
}

/** A workflow in the editor of an admin. */
async function openEditor({ workers = 0, mail = false, definition = DEFINITION }: EditorOptions = {}) {
  const site = await openSite({ workers, mail });
  const ann = await createFirstAdmin(site);
  const { id } = await requestApi(ann, "POST", "/workflows", { name: "Revenue", definition });
  const browser = await openBrowser();
  const window = await openWindow(browser, site, ann, { viewport: { width: 1440, height: 900 } });
  await window.visit(`/workflows/${id}/edit`);
  await heading(window.page, "Edit Revenue").waitFor();
  await window.page.getByText("Valid. Ready to run.").waitFor();
  return { ...window, browser, id, ann, site };
}

const text = (page: Page): Promise<string> =>
  page
    .locator(".cm-line")
    .allInnerTexts()
    .then((lines) => lines.join("\n"));

/** Shows one of the tools beside the editor. */
const chooseTool = (page: Page, name: string): Promise<void> =>
  page.getByRole("radiogroup", { name: "Beside the editor" }).getByText(name, { exact: true }).click();

async function expectAccessible(page: Page): Promise<void> {
  expect(await accessibilityIssues(page)).toEqual([]);
}

describe("the editor, with the data in view", () => {
  it("shows tables, columns and rows, inserts them, and completes SQL from the schema", async () => {
    const { page, problems, browser, site, ann, id } = await openEditor();
    await chooseTool(page, "Data");
    const data = page.getByRole("region", { name: "Databases" });
    await data.getByRole("button", { name: /^customers/ }).click();
    await data.getByRole("button", { name: "Show sample rows" }).click();
    await data.getByRole("region", { name: "Rows of customers" }).waitFor();
    await expectAccessible(page);
    await takeScreenshot(page, "editor-data-light");

    // SQL has keywords of its own, and a name goes to the cursor.
    const line = page.locator(".cm-line", { hasText: "SELECT region" });
    await line.click();
    await page.keyboard.press("End");
    await data
      .getByRole("list", { name: "Columns of customers" })
      .getByRole("button", { name: /^joined_on/ })
      .click();
    await page.locator(".cm-line", { hasText: "SELECT region, joined_on" }).waitFor();
    await page.keyboard.insertText(",");
    await page.keyboard.type(" na");
    await page.getByRole("option", { name: /^name ?TEXT/ }).click();
    await page.locator(".cm-line", { hasText: "SELECT region, joined_on, name" }).waitFor();
    await page.locator(".cm-line", { hasText: "WHERE region" }).click();
    await page.keyboard.press("End");
    await page.keyboard.type(" OR region = :");
    await page.getByRole("option", { name: /^region.*parameter/ }).click();

    // By keyboard alone.
    const add = data.getByRole("button", { name: "Add a step that reads orders" });
    await add.focus();
    await page.keyboard.press("Enter");
    await page.locator(".cm-line", { hasText: "FROM orders" }).waitFor();
    expect(await text(page)).toMatch(
      /OR region = :region\n.*params:[\s\S]*- id: orders\n\s+type: sql\n\s+query: \|/,
    );
    await page.getByText("Valid. Ready to run.").waitFor();

    const phone = await openWindow(browser, site, ann, {
      viewport: { width: 390, height: 844 },
      colorScheme: "dark",
    });
    await phone.visit(`/workflows/${id}/edit`);
    await phone.page.getByRole("button", { name: "Data" }).click();
    const drawer = phone.page.getByRole("dialog", { name: "Databases" });
    await drawer.getByRole("button", { name: /^orders/ }).click();
    await drawer.getByRole("button", { name: /^status/ }).waitFor();
    await expectAccessible(phone.page);
    await takeScreenshot(phone.page, "editor-data-narrow");
    for (const found of [problems, phone.problems]) expect(found).toEqual([]);
  });

  it("tests one step with its inputs, holds effects back, and completes what the test returned", async () => {
    const report = {
      id: "report",
      type: "email",
      to: ["ann@example.com"],
      subject: "Best: ${{ steps.revenue.rows[0].region }}",
      text: "See above.",
    };
    const definition = { ...DEFINITION, steps: [...DEFINITION.steps, report] };
    const { page, problems, ann, id } = await openEditor({ workers: 1, mail: true, definition });
    // The draft differs from the saved version, and need not be saved.
    await page.locator(".cm-line", { hasText: "See above." }).click();
    await page.keyboard.press("End");
    await page.keyboard.type(" Today");
    await chooseTool(page, "Test");
    const panel = page.getByRole("region", { name: "Test", exact: true });
    await panel.getByLabel("What to test").selectOption("revenue");
    await panel.getByRole("textbox", { name: /^region/i }).fill("west");
    await panel.getByRole("button", { name: "Test revenue" }).click();
    const result = panel.getByRole("region", { name: "Result of the test" });
    await result.getByRole("cell", { name: "west" }).first().waitFor();
    await expectAccessible(page);
    await takeScreenshot(page, "editor-test-light");

    await panel.getByLabel("What to test").selectOption("report");
    await panel.getByLabel("Reuse the last outputs of revenue").waitFor();
    await panel.getByRole("button", { name: "Test report" }).click();
    await result.getByText("Held back", { exact: true }).waitFor();
    await result
      .getByText(/Best: west/)
      .first()
      .waitFor();
    await result
      .getByText(/See above. Today/)
      .first()
      .waitFor();
    await takeScreenshot(page, "editor-test-held-back");
    await panel.getByLabel("Let the effects of report happen").check();
    await panel.getByRole("button", { name: "Test report" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();

    await page.locator(".cm-line", { hasText: "subject:" }).click();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.type(" ${{ steps.revenue.rows[0].reg");
    await page.locator(".cm-completionInfo", { hasText: 'In the last test: "west"' }).waitFor();
    expect(await requestApi(ann, "GET", `/workflows/${id}`)).toMatchObject({ version: 1 });
    expect(problems).toEqual([]);
  });
});
