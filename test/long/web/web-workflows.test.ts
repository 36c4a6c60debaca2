import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  addPerson,
  requestApi,
  selectOption,
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  type Person,
  type Site,
} from "../../support/web.ts";

/** The status of a run, beside the heading of its page. */
const status = (page: Page, word: string): Locator =>
  page.getByRole("main").getByText(word, { exact: true }).first();

const editor = (page: Page): Locator => page.getByRole("textbox", { name: /^Definition of / });

/** Types at the end of the definition. */
async function typeAtEnd(page: Page, text: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText(text);
}

async function confirm(page: Page, title: string | RegExp, button: string): Promise<void> {
  await page.getByRole("dialog", { name: title }).getByRole("button", { name: button, exact: true }).click();
}

/** An editor and an admin, each in a browser window. */
async function twoPeople(options: { workers?: number } = {}) {
  const site = await openSite(options);
  const ann = await createFirstAdmin(site);
  const ben = await addPerson(site, ann, "ben@example.com", "editor");
  const browser = await openBrowser();
  const [anns, bens] = [await openWindow(browser, site, ann), await openWindow(browser, site, ben)];
  return { site, ann, ben, anns, bens };
}

const create = (person: Person, name: string, definition: unknown) =>
  requestApi(person, "POST", "/workflows", { name, definition });

const start = (person: Person, workflowId: string, inputs = {}) =>
  requestApi(person, "POST", `/workflows/${workflowId}/runs`, { inputs });

const runPage = (site: Site, { id }: { id: string }) => `${site.url}/ui/runs/${id}`;

/** Fails unless its input `fine` is true. */
const FRAGILE = {
  inputs: { type: "object", properties: { fine: { type: "boolean", default: false } } },
  steps: [
    { id: "first", type: "set", values: { text: "Done once" } },
    { id: "gate", type: "assert", that: "inputs.fine", message: "It is not fine." },
  ],
  output: "${{ steps.first.text }}",
};

const saying = (text: string) => ({ steps: [{ id: "hello", type: "set", values: { text } }] });

describe("a workflow in the browser", () => {
  it("is created with an id of its own, after the suggestions of the server are accepted", async () => {
    const { bens } = await twoPeople();
    const { page } = bens;
    await bens.visit("/workflows/new");
    await page.getByLabel(/^Name/).fill("Weekly\u202E Größe");
    await page.getByLabel("ID (optional)").fill("Größe");
    const submit = page.getByRole("button", { name: "Create and edit" });
    const suggestions = page.getByRole("button", { name: "Use the suggestion" });
    await submit.click();
    await page.getByText("U+202E at character 7").waitFor();
    await suggestions.click();
    expect(await page.getByLabel(/^Name/).inputValue()).toBe("Weekly Größe");
    await submit.click();
    await page.getByText("lower-case letters, digits and -, starting").waitFor();
    await suggestions.click();
    expect(await page.getByLabel("ID (optional)").inputValue()).toBe("groesse");
    await submit.click();
    await heading(page, "Edit Weekly Größe").waitFor();
    expect(page.url()).toContain("/workflows/groesse/edit");

    await bens.visit("/workflows/new");
    await page.getByLabel(/^Name/).fill("Another");
    await page.getByLabel("ID (optional)").fill("groesse");
    await submit.click();
    await page.getByText('Is already used by the draft workflow "Weekly Größe"').waitFor();
  });

  it("is created from a template, validated while typing, published, run, watched and approved by another user", async () => {
    const { anns, bens, site } = await twoPeople();
    const { page } = bens;
    await bens.visit("/workflows");
    await page.getByRole("link", { name: "New workflow" }).first().click();
    await page.getByRole("radio", { name: "Ask for approval" }).click();
    await page.getByLabel(/^Name/).fill("Discounts");
    await page.getByRole("button", { name: "Create and edit" }).click();
    await heading(page, "Edit Discounts").waitFor();
    await page.getByText("Valid. Ready to run.").waitFor();

    await typeAtEnd(page, "retries: 3\n");
    const mark = page.locator(".cm-lintRange-error");
    await mark.first().waitFor();
    expect(await mark.allInnerTexts()).toContain("retries: 3");
    const issue = page.getByRole("listitem").filter({ hasText: "retries" });
    await issue.waitFor();
    await page.getByText("1 error", { exact: true }).waitFor();
    await page.getByText("Can be saved, but not run yet.").waitFor();
    await page.locator(".cm-line", { hasText: "retries: 3" }).click();
    await page.keyboard.press("Home");
    await page.keyboard.press("Shift+End");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText("timeout: 3d");
    await mark.first().waitFor({ state: "detached" });
    await issue.waitFor({ state: "detached" });
    await page.getByText("Valid. Ready to run.").waitFor();
    await page.keyboard.press("Control+s");
    await page.getByText("Saved as version 2.").waitFor();

    await page.getByRole("button", { name: "Publish" }).click();
    await confirm(page, "Publish version 2 of “Discounts”", "Publish");
    await page.getByText("Published version 2 of “Discounts”.").waitFor();
    await heading(page, "Discounts").waitFor();

    await page.getByRole("link", { name: "Run", exact: true }).click();
    await selectOption(page, page.getByRole("combobox", { name: /^region/i }), "west");
    await page.getByLabel(/^discount/i).fill("15");
    await page.getByRole("button", { name: "Run version 2" }).click();
    await heading(page, "Run of discounts").waitFor();
    const documentOfRun = await page.evaluateHandle<object>("document");
    await status(page, "waiting").waitFor();
    await page.getByText("Needs approval").waitFor();
    // The user who started the run sees that another user must decide, and the API enforces it.
    await page.getByRole("link", { name: /^Review/ }).click();
    await page.getByText(/^You started the run/).waitFor();
    await page.goBack();
    await status(page, "waiting").waitFor();

    await anns.visit("/approvals");
    await anns.page.getByRole("link", { name: /in the west a discount of 15 %\?$/ }).click();
    await selectOption(anns.page, anns.page.getByRole("combobox", { name: /^Budget/ }), "marketing");
    await anns.page.getByLabel("Comment").fill("Only this once.");
    await anns.page.getByRole("button", { name: "Approve", exact: true }).click();
    await anns.page.getByText("Approved. The run continues.").waitFor();
    await anns.page.getByText("“Only this once.”").waitFor();

    // The page updates without a reload.
    await status(page, "succeeded").waitFor();
    await page.getByRole("heading", { name: "Output", exact: true }).first().waitFor();
    expect(
      await documentOfRun.evaluate((before) => before === (globalThis as { document?: object }).document),
    ).toBe(true);
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.getByText("approve", { exact: true }).first().waitFor();
    await page.getByRole("tab", { name: /^Steps/ }).click();
    await page.getByRole("button", { name: /^customers/ }).click();
    await page.getByRole("heading", { name: "customers" }).waitFor();
    await page.getByRole("table").first().waitFor();
    for (const { problems, requestedHosts } of [anns, bens]) {
      expect(problems).toEqual([]);
      expect([...requestedHosts]).toEqual([new URL(site.url).host]);
    }
  });

  it("shows input errors at their fields, and updates a run's steps without a reload", async () => {
    const { bens, ben, site } = await twoPeople();
    const { page, visit } = bens;
    const { id } = await create(ben, "Slow", {
      inputs: {
        type: "object",
        properties: { share: { type: "number", minimum: 0, maximum: 1 } },
        required: ["share"],
      },
      steps: [
        { id: "begin", type: "set", values: { share: "${{ inputs.share }}" } },
        { id: "pause", type: "wait", for: "1500ms", needs: ["begin"] },
        { id: "end", type: "set", values: { over: true }, needs: ["pause"] },
      ],
      output: "${{ steps.end.over }}",
    });
    await visit(`/workflows/${id}/run`);
    await page.getByRole("button", { name: "Run version 1" }).click();
    await page
      .getByText(/Not started|required|must/i)
      .first()
      .waitFor();
    await page.getByLabel(/^share/i).fill("0.4");
    await page.getByRole("button", { name: "Run version 1" }).click();
    await heading(page, "Run of slow").waitFor();
    await page.getByRole("tab", { name: /^Steps/ }).click();
    const row = (step: string) => page.getByRole("button", { name: new RegExp(`^${step} `) });
    await row("pause").filter({ hasText: "waiting" }).waitFor();
    await row("end").filter({ hasText: "pending" }).waitFor();
    await row("end").filter({ hasText: "succeeded" }).waitFor();
    await status(page, "succeeded").waitFor();
    expect(page.url()).toContain(`${site.url}/ui/runs/run_`);
  });

  it("is cancelled, retried from the failed step, and retried with a changed definition", async () => {
    const { bens, ben, site } = await twoPeople();
    const { page } = bens;
    const fragile = await create(ben, "Fragile", FRAGILE);
    const sleepy = await create(ben, "Sleepy", { steps: [{ id: "sleep", type: "wait", for: "1h" }] });

    await page.goto(runPage(site, await start(ben, sleepy.id)));
    await status(page, "waiting").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await confirm(page, "Cancel the run of sleepy?", "Cancel run");
    await page.getByText("Run cancelled").waitFor();
    await status(page, "cancelled").waitFor();

    const failed = await start(ben, fragile.id);
    await page.goto(runPage(site, failed));
    await page.getByText("Run failed", { exact: true }).waitFor();
    await page.getByText(/^gate failed: It is not fine\. How to fix:/).waitFor();
    await page.getByRole("button", { name: "Retry from gate" }).click();
    await page.getByText("New run of fragile started.").waitFor();
    await page.getByText("Retry of", { exact: true }).waitFor();
    await page.getByText("Run failed", { exact: true }).waitFor();
    expect(page.url()).not.toBe(runPage(site, failed));
    await page.getByRole("tab", { name: /^Steps/ }).click();
    await page
      .getByRole("button", { name: /^first / })
      .filter({ hasText: "reused" })
      .waitFor();

    await page.getByRole("link", { name: "Edit and retry" }).click();
    await heading(page, "Edit and retry fragile").waitFor();
    await editor(page).click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText(
      JSON.stringify({ ...FRAGILE, steps: [FRAGILE.steps[0], { ...FRAGILE.steps[1], that: "true" }] }),
    );
    await page.getByRole("heading", { name: "Your changes" }).waitFor();
    await page.getByRole("heading", { name: "Retry preview" }).waitFor();
    await page.getByRole("button", { name: "Retry with these changes" }).click();
    await heading(page, "Run of fragile").waitFor();
    await status(page, "succeeded").waitFor();
    await page.getByText("modified for this run").waitFor();
    expect(bens.problems).toEqual([]);
  });

  it("is archived and restored, and its old versions are compared and restored", async () => {
    const { bens, ben } = await twoPeople({ workers: 0 });
    const { page, visit } = bens;
    const { id } = await create(ben, "Greeting", saying("Good morning"));
    await requestApi(ben, "PATCH", `/workflows/${id}`, {
      definition: saying("Good evening"),
      reason: "It is late.",
    });

    await visit(`/workflows/${id}`);
    await page.getByRole("button", { name: "More actions for Greeting" }).click();
    await page.getByRole("menuitem", { name: "Archive" }).click();
    await page.getByText("Archived “Greeting”.").waitFor();
    await page.getByText("This workflow can’t run. Its ID and history are kept.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Restored “Greeting” (draft).").waitFor();
    await page.getByRole("link", { name: "Edit" }).waitFor();

    await visit(`/workflows/${id}/versions?from=1&to=2`);
    await page.getByText("It is late.").filter({ visible: true }).waitFor();
    const changes = page.getByRole("region", { name: "Changes from version 1 to 2" });
    await changes.getByText("Good evening").first().waitFor();
    await changes.getByText("Good morning").first().waitFor();
    await page.getByRole("button", { name: "Actions for version 1" }).click();
    await page.getByRole("menuitem", { name: "Restore" }).click();
    await page.getByText(/^Restored version 1 as version \d+\.$/).waitFor();
    const { definition } = await requestApi<{ definition: unknown }>(ben, "GET", `/workflows/${id}`);
    expect(definition).toEqual(saying("Good morning"));
    expect(bens.problems).toEqual([]);
  });

  it("keeps its comments when it is formatted, saved and shown", async () => {
    const { bens, ben } = await twoPeople({ workers: 0 });
    const { page, visit } = bens;
    const { id } = await create(ben, "Commented", saying("Hello"));
    const definition =
      "# Why it exists.\nsteps:\n  # Says it.\n  - type: set # once\n    id: said\n    values: {}\n";
    await requestApi(ben, "PATCH", `/workflows/${id}`, { definition });
    await visit(`/workflows/${id}/edit`);
    await editor(page).getByText("# Why it exists.").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).and(page.locator(":disabled")).waitFor();
    await editor(page).click();
    await page.keyboard.press("Shift+Alt+F");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved as version 3.").waitFor();
    const { definition_text: text } = await requestApi<{ definition_text: string }>(
      ben,
      "GET",
      `/workflows/${id}?include=text`,
    );
    expect(text).toBe(
      "# Why it exists.\nsteps:\n  # Says it.\n  - id: said\n    type: set # once\n    values: {}\n",
    );
    await visit(`/workflows/${id}?tab=definition`);
    await page.getByRole("tab", { name: "Definition" }).click();
    await page.getByText("# Says it.").waitFor();
    expect(bens.problems).toEqual([]);
  });

  it("keeps both changes when two users edit it at the same time", async () => {
    const { anns, bens, ben } = await twoPeople({ workers: 0 });
    const { id } = await create(ben, "Shared", saying("Hello"));
    for (const { visit, page } of [anns, bens]) {
      await visit(`/workflows/${id}/edit`);
      await editor(page).waitFor();
    }
    await typeAtEnd(bens.page, "timeout: 1h\n");
    await bens.page.getByRole("button", { name: "Save", exact: true }).click();
    await bens.page.getByText("Saved as version 2.").waitFor();

    const { page } = anns;
    await typeAtEnd(page, "timeout: 2h\n");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const conflict = page.getByRole("dialog", { name: "Conflicting changes" });
    await conflict.getByText("timeout: 2h").waitFor();
    await conflict.getByText(/^Version 2 by ben@example\.com, .*\. No change note\.$/).waitFor();
    await conflict.getByRole("button", { name: "Keep editing" }).click();
    await conflict.waitFor({ state: "detached" });
    expect(await editor(page).innerText()).toContain("timeout: 2h");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved as version 3.").waitFor();
    // Leaving with unsaved changes asks for confirmation.
    await typeAtEnd(page, "priority: 1\n");
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await confirm(page, "Leave without saving?", "Stay");
    expect(await editor(page).innerText()).toContain("priority: 1");
    expect(anns.problems.filter((text) => !/status of 412/.test(text))).toEqual([]);
  });
});

/** Counts up with each event. */
const COUNTER = {
  state: { count: { type: "integer", default: 0 } },
  steps: [{ id: "callback", type: "wait", event: {} }],
  output: "${{ steps.callback.body }}",
  commit: { count: "${{ state.count + 1 }}" },
};

describe("a workflow with state that waits for an event, in the browser", () => {
  it("shows its state, which an editor can set, and the URL of its event", async () => {
    const { ben, bens, site } = await twoPeople();
    const { page } = bens;
    const { id } = await create(ben, "Counter", COUNTER);
    await bens.visit(`/workflows/${id}`);
    const panel = page.getByRole("region", { name: "State", exact: true });
    await panel.getByText("these are the defaults").waitFor();
    await panel.getByRole("button", { name: "Edit state" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit state" });
    await dialog.getByLabel("Values").fill('{"count": "many"}');
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/must be an integer/).waitFor();
    await dialog.getByLabel("Values").fill('{"count": 41}');
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await panel.getByText("41").waitFor();

    const run = await start(ben, id);
    await page.goto(`${runPage(site, run)}?step=callback`);
    const url = await page.getByText(/\/events\/run_/).innerText();
    const answer = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ pressed: "yes" }),
    });
    expect(answer.status).toBe(202);
    await status(page, "succeeded").waitFor();
    await page.getByRole("region", { name: "State that the run committed" }).getByText("42").waitFor();
  });
});
