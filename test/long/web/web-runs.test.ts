import { readFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Approval } from "../../../schemas/approval.ts";
import type { Run } from "../../../schemas/run.ts";
import { violations } from "../../support/axe.ts";
import { eventually } from "../../support/eventually.ts";
import {
  addPerson,
  requestApi,
  createFirstAdmin,
  heading,
  openBrowser,
  openSite,
  openWindow,
  type Person,
  takeScreenshot,
  WAIT_TIMEOUT_MS,
  type Site,
} from "../../support/web.ts";

const BEFORE = [
  { id: "count", type: "set", values: { n: 1 } },
  { id: "gate", type: "assert", that: "false", message: "Not yet." },
];
const PATCH = [
  { op: "remove_step", id: "gate" },
  { op: "add_step", step: { id: "look", type: "set", values: { m: "${{ steps.count.n }}" } } },
  { op: "add_step", step: { id: "decide", type: "approval", message: "Send it?", timeout: "2h" } },
];

/** Records model usage, as if the run's steps had called models. */
function recordModelUsage({ stateDir }: Site, runId: string): void {
  const db = new DatabaseSync(join(stateDir, "millrace.db"), { timeout: WAIT_TIMEOUT_MS });
  const usage = JSON.stringify({ input_tokens: 812, output_tokens: 64, cost: 0.25 });
  db.prepare("update run_attempts set usage = ? where run_id = ? and finished_at is not null").run(
    usage,
    runId,
  );
  db.close();
}

/** Runs a single step to its end. */
const runStep = (person: Person, step: object, more: object = {}) =>
  requestApi(person, "POST", "/runs", { step, ...more, wait: 30 });

it("a retry of a fan-out says on its page how many items were reused", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const steps = [
    { id: "list", type: "set", values: { to: "${{ range(6) }}" } },
    { id: "check", type: "assert", for_each: "steps.list.to", concurrency: 1, that: "item < 4" },
  ];
  await requestApi(ann, "POST", "/workflows", { name: "Fan", definition: { steps } });
  const first = await requestApi(ann, "POST", "/workflows/fan/runs", { wait: 30 });
  const { id } = await requestApi(ann, "POST", `/runs/${first.id}/retry`, { wait: 30 });
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  await visit(`/runs/${id}`);
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.getByText("5 of 6 items, 4 reused, 1 failed").first().waitFor();
  expect(await page.getByText("5 of 6 completed, 4 reused, 1 failed").count()).toBe(1);
});

it("a person finds runs by words and by a condition, and sees what is wrong with one", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const steps = [{ id: "check", type: "assert", that: "inputs.amount > 0", message: "No amount." }];
  const inputs = {
    type: "object",
    properties: { invoice: { type: "string" }, amount: { type: "number" } },
  };
  await requestApi(ann, "POST", "/workflows", { name: "Orders", definition: { inputs, steps } });
  for (const [invoice, amount] of [
    ["INV-1", 10],
    ["INV-2", -1],
  ])
    await requestApi(ann, "POST", "/workflows/orders/runs", { inputs: { invoice, amount }, wait: 30 });
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  await visit("/runs");
  const rows = page.getByRole("table", { name: "Runs" }).getByRole("row");
  const search = page.getByRole("searchbox", { name: "Search" });
  await search.fill("inv-2");
  await search.press("Enter");
  await page.getByText("1 found").waitFor();
  expect(await rows.count()).toBe(2);
  expect(await page.getByRole("button", { name: "Retry…" }).isVisible()).toBe(true);
  await takeScreenshot(page, "runs-search");
  await search.fill("zebra");
  await search.press("Enter");
  await page.getByText("No matching runs").waitFor();
  await search.fill("");
  const condition = page.getByRole("textbox", { name: "Condition" });
  await condition.fill("inputs.amount >= ");
  await condition.press("Enter");
  await page.getByText("Nothing was searched").waitFor();
  await page.getByText(/syntax error/).waitFor();
  await takeScreenshot(page, "runs-condition-error");
  await condition.fill("inputs.amount > 5");
  await condition.press("Enter");
  await page.getByText("1 found").waitFor();
  expect(new URL(page.url()).searchParams.get("where")).toBe("inputs.amount > 5");
  expect(await violations(page)).toEqual([]);
});

it("the workflow of a run is called by its name, and by its id only where nobody may see the name", async () => {
  const NAME = "週間売上レポート";
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const steps = [
    { id: "enough", type: "assert", that: "inputs.n > 1", message: "Too few." },
    { id: "ask", type: "approval", message: "Send it?", timeout: "2h" },
  ];
  const inputs = { type: "object", properties: { n: { type: "integer" } } };
  const definition = { inputs, steps, schedule: { cron: "0 3 * * *", timezone: "UTC", inputs: { n: 1 } } };
  await requestApi(ann, "POST", "/workflows", { id: "nihongo", name: NAME, definition });
  await requestApi(ann, "POST", "/workflows/nihongo/publish", {});
  const start = (n: number) =>
    requestApi<Run>(ann, "POST", "/workflows/nihongo/runs", { inputs: { n }, wait: 0 });
  const [failed, waiting] = [await start(1), await start(2)];
  const approval = await eventually(
    async () => (await requestApi<Approval[]>(ann, "GET", "/approvals?limit=1"))[0],
    "the approval",
    WAIT_TIMEOUT_MS,
  );
  const { page, visit } = await openWindow(await openBrowser(), site, ann);

  await visit(`/runs/${failed.id}`);
  await heading(page, `Run of ${NAME}`).waitFor();
  await page.waitForFunction(`document.title === "Run of ${NAME} · Millrace"`);
  await page.getByText("nihongo", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Retry from enough" }).click();
  await page.getByText(`New run of ${NAME} started.`).waitFor();
  await visit(`/approvals/${approval.id}`);
  await heading(page, `Approval for ${NAME}`).waitFor();
  // Its name stands for it in all four lists.
  await visit("/");
  expect(await page.getByText(NAME).count()).toBeGreaterThanOrEqual(4);
  expect(await page.locator("main").innerText()).not.toContain("nihongo");
  await visit("/approvals");
  await page.getByRole("link", { name: NAME }).waitFor();
  await visit("/runs?workflow=nihongo");
  expect(await page.getByRole("combobox", { name: "Workflow" }).inputValue()).toBe(NAME);
  await page.getByRole("link", { name: NAME }).first().waitFor();
  expect(await page.getByText(waiting.id).count()).toBeGreaterThan(0);
  // A page of names needs one request; a name that can't be read leaves the id.
  const requests: string[] = [];
  await page.route(/[?&]ids=/, (route) => {
    requests.push(route.request().url());
    return route.fulfill({ json: [] });
  });
  await visit("/runs");
  await page.getByRole("link", { name: "nihongo" }).first().locator("code").waitFor();
  expect(requests).toHaveLength(1);
});

it("a page of something that does not exist says so in the words of the interface, and leads to the others", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  for (const [path, title, all] of [
    ["/runs/run_nope", "Run not found", "All runs"],
    ["/runs/run_nope/compare", "Run not found", "All runs"],
    ["/workflows/nope", "Workflow not found", "All workflows"],
    ["/workflows/nope/edit", "Workflow not found", "All workflows"],
    ["/approvals/nope", "Approval not found", "Pending approvals"],
    ["/reviews/nope", "Change request not found", "Pending change requests"],
    ["/bulk-actions/blk_nope", "Bulk action not found", "All bulk actions"],
    ["/projects/nope", "Project not found", "All projects"],
    ["/keys/key_nope", "API key not found", "All API keys"],
  ] as const) {
    await visit(path);
    await page.getByText(title, { exact: true }).waitFor();
    await page.getByText(/^There is no [\w ]+nope that you may see\./).waitFor();
    expect(await page.locator("main").innerText()).not.toMatch(/GET \/|list_/);
    await page.getByRole("link", { name: all, exact: true }).last().waitFor();
  }
});

it("one failed item of 200 is marked in every view, and the table of items opens with it", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const steps = [
    {
      id: "send",
      type: "assert",
      for_each: "range(200)",
      that: "item != 137",
      message: "No address for customer ${{ item }}.",
      on_error: "continue",
    },
    { id: "late", type: "assert", that: "false", message: "Too late.", on_error: "continue" },
  ];
  await requestApi(ann, "POST", "/workflows", { name: "Letters", definition: { steps } });
  const { id } = await requestApi(ann, "POST", "/workflows/letters/runs", { wait: 50 });
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  await visit("/runs");
  await page.getByRole("row").filter({ hasText: id }).getByText("1 step failed").waitFor();
  await visit(`/runs/${id}`);
  await page.getByText("1 step failed, 1 item failed").waitFor();
  const card = page.getByRole("button", { name: /^send, assert, succeeded, .*, 1 failed/ });
  await card.getByText("1 failed", { exact: true }).waitFor();
  await takeScreenshot(page, "failed-item-graph");
  await page.getByRole("tab", { name: "Timeline" }).click();
  const bar = page.locator('[data-step="send"]');
  await bar.getByText("1 failed", { exact: true }).waitFor();
  await takeScreenshot(page, "failed-item-timeline");
  await page.getByRole("tab", { name: "Steps (2)" }).click();
  const entry = page.getByRole("list", { name: "Steps" }).getByRole("button", { name: /^send/ });
  await entry.getByText("1 failed", { exact: true }).waitFor();
  await entry.click();

  const table = page.getByRole("table", { name: "Items of send" });
  await table.getByText("No address for customer 137.").waitFor();
  const numbers = () => table.getByRole("button").allTextContents();
  expect(await numbers()).toEqual(["137"]);
  await takeScreenshot(page, "failed-item-table");
  await page.getByRole("button", { name: "All (200)" }).click();
  await table.getByRole("button", { name: "Item 19" }).waitFor();
  expect(await numbers()).toEqual(Array.from({ length: 20 }, (_, item) => String(item)));
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText("Items 20–39 (200 in total)").waitFor();
  await table.getByRole("button", { name: "Item 39" }).waitFor();
  await page.getByRole("button", { name: "Failed (1)" }).click();
  await table.getByText("No address for customer 137.").waitFor();
  expect(await numbers()).toEqual(["137"]);
});

const sumsOf = (limit: number) => ({
  inputs: { type: "object", properties: { region: { type: "string", default: "north" } } },
  steps: [
    { id: "load", type: "set", values: { rows: "${{ range(4) }}", region: "${{ inputs.region }}" } },
    { id: "double", type: "set", for_each: "steps.load.rows", values: { n: "${{ item * 2 }}" } },
    { id: "check", type: "assert", that: `size(steps.load.rows) < ${limit}`, message: "Too many rows." },
  ],
  output: { region: "${{ steps.load.region }}" },
});

it("a run is compared with the last good one, and with any other", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  await requestApi(ann, "POST", "/workflows", { name: "Sums", definition: sumsOf(9) });
  const run = (inputs: object) => requestApi(ann, "POST", "/workflows/sums/runs", { inputs, wait: 30 });
  const first = await run({});
  const second = await run({});
  await requestApi(ann, "PATCH", "/workflows/sums", { definition: sumsOf(3), reason: "Fewer rows." });
  const failed = await run({ region: `south ${"x".repeat(400)}` });
  const { page, visit } = await openWindow(await openBrowser(), site, ann);

  await visit(`/runs/${failed.id}`);
  await page.getByRole("link", { name: "Compare" }).click();
  await heading(page, "Compare runs of sums").waitFor();
  await page.getByText("First difference: the inputs (region) of the run.").waitFor();
  const runs = await page.getByRole("table", { name: "Runs" }).innerText();
  expect(runs).toContain(second.id);
  expect(runs).toContain("version 2");
  const steps = page.getByRole("table", { name: "Steps" });
  expect(await steps.getByText("differs").count()).toBe(2);
  expect(await page.getByRole("table", { name: "Inputs" }).innerText()).toMatch(
    /"north"\s+"south x+… \(408 characters\)/,
  );
  expect(await page.getByRole("table", { name: "Error of the run" }).innerText()).toContain("assert_failed");
  await page.getByText("Too many rows.").first().waitFor();
  await page.getByText("After: version 2").waitFor();
  for (const width of [1_440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await takeScreenshot(page, `compare-${width}`);
    const excess = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(excess)).toBe(0);
  }

  await page.getByLabel("Compare with the run").fill(first.id);
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await page.getByRole("table", { name: "Runs" }).getByRole("link", { name: first.id }).waitFor();
  await page.getByRole("button", { name: "Compare with the last good run" }).click();
  await page.getByRole("table", { name: "Runs" }).getByRole("link", { name: second.id }).waitFor();
  await visit(`/runs/${first.id}/compare`);
  await page.getByText("No earlier run has succeeded").waitFor();
  await visit(`/runs/${second.id}/compare`);
  await page.getByText("Both runs did the same.").waitFor();
});

describe("runs of single steps and trials", () => {
  it("are shown as such, and steps become a workflow whose guesses are shown", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    const first = await runStep(ann, { id: "order", type: "set", values: { number: 4711, city: "Lisbon" } });
    const second = await runStep(ann, { id: "label", type: "set", values: { text: "4711 to Lisbon" } });
    const mail = { id: "send", type: "email", to: ["team@example.com"], subject: "Hi", text: "Hi" };
    await requestApi(ann, "POST", "/workflows", { name: "Greeting", definition: { steps: [mail] } });
    const given = { send: { message_id: "1@example.com" } };
    const trial = await requestApi(ann, "POST", "/workflows/greeting/runs", { given, wait: 30 });
    const { page, visit } = await openWindow(await openBrowser(), site, ann);

    await visit("/runs");
    const row = (id: string) => page.getByRole("row").filter({ hasText: id });
    expect(await row(trial.id).innerText()).toContain("Web interface, trial");
    expect(await row(first.id).innerText()).toMatch(/set step order[^]* · no workflow/);
    await visit(`/runs/${trial.id}`);
    await page.getByRole("note").filter({ hasText: "Trial" }).waitFor();

    await visit(`/runs/${second.id}`);
    await page.getByRole("link", { name: "Create workflow" }).click();
    const [order, label] = ["set step order", "set step label"].map((name) => page.getByLabel(name));
    expect([await order!.isChecked(), await label!.isChecked()]).toEqual([false, true]);
    await order!.check();
    await takeScreenshot(page, "create-from-steps");
    await page.getByRole("button", { name: "Create workflow" }).click();
    await page.getByText("must not be empty").waitFor();
    await page.getByLabel(/^Name/).fill("Labels");
    await page.getByRole("button", { name: "Create workflow" }).click();
    const guesses = page.getByRole("list", { name: "Guesses" });
    await guesses.waitFor();
    expect(await guesses.innerText()).toContain("steps.order");
    await takeScreenshot(page, "guesses");
    await page.getByRole("link", { name: "Open workflow" }).click();
    await heading(page, "Labels").waitFor();
    const { definition } = await requestApi<{ definition: { steps: { id: string }[] } }>(
      ann,
      "GET",
      "/workflows/labels",
    );
    expect(definition.steps.map(({ id }) => id)).toEqual(["order", "label"]);
  });
});

describe("a run that was retried with a changed definition", () => {
  it("shows the changed definition, its approval, its model usage and who started it", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    const ben = await addPerson(site, ann, "ben@example.com", "editor");
    await requestApi(ben, "POST", "/workflows", { name: "Month end", definition: { steps: BEFORE } });
    const failed = await requestApi(ben, "POST", "/workflows/month-end/runs", { wait: 30 });
    const { id } = await requestApi(ben, "POST", `/runs/${failed.id}/retry`, { patch: PATCH });
    const approval = await eventually(
      async () => (await requestApi<Approval[]>(ann, "GET", "/approvals"))[0],
      "the approval",
      WAIT_TIMEOUT_MS,
    );
    recordModelUsage(site, id);
    const { page, visit } = await openWindow(await openBrowser(), site, ann);

    await visit(`/runs/${id}`);
    await page.getByLabel("Graph of 3 steps").waitFor();
    // From count to look, and on to decide: one move for each edge, and one for its arrowhead.
    const lines = await page.locator(".step-line").first().getAttribute("d");
    expect(lines?.match(/M/g)).toHaveLength(4);
    const facts = await page.locator("dl").first().innerText();
    expect(facts).toContain("1,624 input tokens, 128 output tokens, cost 0.50");
    expect(facts).toContain("ben@example.com\nWeb interface · Firefox 145 on Linux\n");

    // By its ID alone, as in a link in a mail.
    await visit(`/approvals/${approval.id}`);
    await page.getByRole("button", { name: /^look/ }).waitFor();
    await page.getByRole("heading", { name: "What can run after the decision" }).waitFor();
    await page.getByText("Nothing else runs.").waitFor();
    await page.getByRole("button", { name: "Approve" }).click();
    await eventually(
      async () => (await requestApi<Run>(ann, "GET", `/runs/${id}`)).finished_at ?? undefined,
      "the run's end",
      WAIT_TIMEOUT_MS,
    );
    await visit(`/approvals/${approval.id.slice(0, -1)}`);
    await page.getByText("Approval not found").waitFor();

    await visit(`/runs/${id}/retry`);
    await page.getByText("message: Send it?").waitFor();
    expect(await page.getByText("Not yet.").count()).toBe(0);
  });
});

describe("a list of a run", () => {
  it("is saved as CSV that a spreadsheet reads: a byte order mark, CRLF and no formula", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    const rows = [
      { city: "Zürich", note: "=1+1" },
      { city: "Köln", note: "a;=1+1" },
    ];
    const run = await runStep(ann, { id: "cities", type: "set", values: { rows } });
    const { page, visit } = await openWindow(await openBrowser(), site, ann);
    await visit(`/runs/${run.id}`);
    await page.getByRole("button", { name: "Download" }).last().click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "CSV" }).click(),
    ]);
    expect(await readFile(await download.path(), "utf8")).toBe(
      "\uFEFFcity,note\r\nZürich,'=1+1\r\nKöln,a;'=1+1\r\n",
    );
  });
});
