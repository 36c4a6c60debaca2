import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Approval } from "../../schemas/approval.ts";
import type { Run } from "../../schemas/run.ts";
import { eventually } from "../support/eventually.ts";
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
} from "../support/web.ts";

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

describe("a run that failed", () => {
  const CHECKED = {
    inputs: {
      type: "object",
      properties: { limit: { type: "integer" }, city: { type: "string" } },
      required: ["limit", "city"],
    },
    steps: [
      { id: "count", type: "set", values: { n: 3, city: "${{ inputs.city }}" } },
      { id: "enough", type: "assert", that: "steps.count.n >= inputs.limit", message: "Too few." },
    ],
    output: { city: "${{ steps.count.city }}" },
  };

  it("shows why first, and is understood, compared, found, repeated and exported", async () => {
    const site = await openSite();
    const ann = await createFirstAdmin(site);
    await requestApi(ann, "POST", "/workflows", { name: "City check", definition: CHECKED });
    const start = (limit: number, city: string) =>
      requestApi<Run>(ann, "POST", "/workflows/city-check/runs", { inputs: { limit, city }, wait: 30 });
    await start(2, "Lisbon");
    const failed = await start(5, "Porto");
    const { page, visit, problems } = await openWindow(await openBrowser(), site, ann);

    for (const viewport of [
      { width: 1_440, height: 900 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(viewport);
      await visit(`/runs/${failed.id}`);
      const values = page.getByRole("table", { name: "Values in the condition" }).first();
      await values.waitFor();
      expect(await values.innerText()).toMatch(/steps\.count\.n\s+3\s+inputs\.limit\s+5/);
      const box = (await values.boundingBox())!;
      expect(box.y + box.height).toBeLessThan(viewport.height);
      // The inputs are folded.
      expect(await page.getByText("Porto").filter({ visible: true }).count()).toBe(0);
      await takeScreenshot(page, `failed-run-${viewport.width}`);
    }
    await page.setViewportSize({ width: 1_440, height: 900 });

    await page.getByRole("tab", { name: "Events" }).click();
    const log = page.getByLabel("Events of the run");
    await log.getByText("Run failed", { exact: true }).waitFor();
    expect(await log.innerText()).toMatch(
      /Run created by ann@example\.com[^]*count started[^]*enough failed/,
    );
    await takeScreenshot(page, "run-events");

    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Compare with the last good run" }).click();
    const inputs = page.getByRole("table", { name: "Differences of the inputs" });
    await inputs.waitFor();
    expect(await inputs.innerText()).toMatch(/limit\s+2\s+5/);
    await page.getByRole("button", { name: "Compare the outputs of count" }).click();
    const outputs = page.getByRole("table", { name: "Differences of the output of count" });
    await outputs.waitFor();
    expect(await outputs.innerText()).toContain('"Porto"');
    await takeScreenshot(page, "compare-runs");

    await visit("/runs");
    await page.getByRole("searchbox", { name: "Search" }).fill("porto few");
    await page.getByText("1 found", { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get("search")).toBe("porto few");
    await page.getByRole("checkbox", { name: /^Select the run of City check/ }).check();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("menuitem", { name: "CSV" }).click();
    expect((await download).suggestedFilename()).toBe("runs.csv");
    await page.getByRole("button", { name: "Retry (1)" }).click();
    await page.getByRole("button", { name: "Retry 1 run" }).click();
    await page.getByText("1 of 1 · 1 retried").waitFor();
    await takeScreenshot(page, "bulk-retry");
    await page.getByRole("button", { name: "Done", exact: true }).click();

    await page
      .getByRole("button", { name: /^Actions on the run of City check/ })
      .first()
      .click();
    await page.getByRole("menuitem", { name: "Run with other inputs" }).click();
    await heading(page, "Run City check").waitFor();
    expect(await page.getByLabel(/^city/i).inputValue()).toBe("Porto");
    await page.getByLabel(/^limit/i).fill("1");
    await page.getByRole("button", { name: "Run version 1" }).click();
    await page.getByRole("button", { name: "Run again" }).click();
    await page.getByText('"limit": 1').waitFor();
    await takeScreenshot(page, "run-again");
    await page.getByRole("dialog").getByRole("button", { name: "Run again" }).click();
    await page.getByText("New run of City check started (version 1).").waitFor();
    expect(problems).toEqual([]);
  });
});
