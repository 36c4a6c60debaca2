/** Bulk actions in a browser: a preview is confirmed, and the page of the bulk action shows what happened with each run. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { eventually, untilPassing } from "../../support/eventually.ts";
import {
  addPerson,
  createFirstAdmin,
  heading,
  newStateDirectory,
  openBrowser,
  openSite,
  openWindow,
  type Person,
  requestApi,
  selectOption,
  takeScreenshot,
  waitUntilLoaded,
} from "../../support/web.ts";
import type { BulkAction } from "../../../schemas/bulk-action.ts";
import type { Run } from "../../../schemas/run.ts";

/** Nothing listens there. */
const CLOSED_PORT = "127.0.0.1:9";

/** The last step has an effect, and fails until the workflow is corrected. */
const PAYMENTS = {
  inputs: { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] },
  steps: [
    { id: "rate", type: "set", values: { sum: "${{ inputs.amount * 2 }}" } },
    {
      id: "pay",
      type: "http",
      method: "POST",
      url: `http://${CLOSED_PORT}/pay`,
      body: { sum: "${{ steps.rate.sum }}" },
    },
  ],
  output: "${{ steps.rate.sum }}",
};

/** Workflows of the site may call the closed port. */
async function openPaymentSite() {
  const stateDir = newStateDirectory();
  const path = join(stateDir, "config.yaml");
  const config = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...config, http: { allowed_hosts: [CLOSED_PORT] } }));
  return openSite({ stateDir });
}

const overflow = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page })
    .options({ resultTypes: ["violations"] })
    .analyze();
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary}`),
  );
}

async function expectAccessible(page: Page, name: string): Promise<void> {
  await takeScreenshot(page, name);
  // The menu of a window that has just become narrow is still moving.
  await untilPassing(async () =>
    expect({ name, overflow: await overflow(page) }).toEqual({ name, overflow: 0 }),
  );
  expect({ name, issues: await violations(page) }).toEqual({ name, issues: [] });
}

async function failedRuns(ann: Person, count: number): Promise<Run[]> {
  await requestApi(ann, "POST", "/workflows", { name: "Pay", definition: PAYMENTS });
  const runs: Run[] = [];
  for (let amount = 1; amount <= count; amount += 1)
    runs.push(await requestApi<Run>(ann, "POST", "/workflows/pay/runs", { inputs: { amount }, wait: 60 }));
  expect(runs.map(({ status }) => status)).toEqual(runs.map(() => "failed"));
  return runs;
}

const correctWorkflow = (ann: Person) =>
  requestApi(ann, "PATCH", "/workflows/pay", {
    definition: {
      ...PAYMENTS,
      steps: [PAYMENTS.steps[0], { id: "pay", type: "set", values: { paid: true } }],
    },
  });

const getAction = (person: Person, page: Page) =>
  requestApi<BulkAction>(person, "GET", `/bulk-actions/${new URL(page.url()).pathname.split("/").at(-1)}`);

it("retries the runs of a filter as the preview says, and shows what happened with each", async () => {
  const site = await openPaymentSite();
  const ann = await createFirstAdmin(site);
  const runs = await failedRuns(ann, 4);
  await correctWorkflow(ann);
  const { page, visit, problems } = await openWindow(await openBrowser(), site, ann);
  await visit("/runs?status=failed&workflow=pay");
  await page.getByRole("button", { name: "Retry all 4…" }).click();
  const dialog = page.getByRole("dialog", { name: "Retry runs" });
  await dialog.getByText("4 runs would be retried.").waitFor();
  await dialog.getByText("pay (http) may happen again in 4 runs").waitFor();
  expect(await dialog.getByRole("link", { name: runs[0]!.id }).getAttribute("target")).toBe("_blank");
  const start = dialog.getByRole("button", { name: "Retry 4 runs" });
  expect(await start.isDisabled()).toBe(true);
  await dialog.getByRole("checkbox", { name: /^I have checked/ }).check();
  expect(await start.isEnabled()).toBe(true);

  // The step of version 2 has no effect: another preview, and nothing to check.
  await selectOption(page, dialog.getByRole("combobox", { name: "Version" }), "Version 2");
  await dialog.getByText("pay, version 2").waitFor();
  await dialog.getByText("pay (http) may happen again").waitFor({ state: "detached" });
  await dialog.getByLabel("Rate").fill("60 per minute");
  expect(await start.isDisabled()).toBe(true);
  await dialog.getByLabel("Rate").fill("");
  expect(await start.isDisabled()).toBe(false);
  const concurrency = dialog.getByLabel("At a time");
  for (const typed of ["50", ""]) {
    await concurrency.fill(typed);
    await dialog.getByText("Write a whole number from 1 to 20.").waitFor();
    expect(await start.isDisabled()).toBe(true);
  }
  await concurrency.pressSequentially("7");
  expect(await concurrency.inputValue()).toBe("7");
  await dialog.getByLabel("Reason").fill("The bank was down.");
  await expectAccessible(page, "version-2");

  // One of the runs is retried elsewhere, so the preview is no longer true.
  await requestApi(ann, "POST", `/runs/${runs[3]!.id}/retry`, { version: 2, confirm: true, wait: 60 });
  await start.click();
  await dialog.getByText("The runs have changed").waitFor();
  await dialog.getByText("3 runs would be retried.").waitFor();
  await dialog.getByText("1 run: already retried by another run").waitFor();
  await expectAccessible(page, "changed");
  await dialog.getByRole("button", { name: "Retry 3 runs" }).click();

  await heading(page, "Retry of 3 runs of pay").waitFor();
  await page.getByText("3 retried, 0 skipped.").waitFor();
  await page.getByRole("group", { name: "Retries by status" }).getByText("3 succeeded").waitFor();
  await page.getByText("finished", { exact: true }).waitFor();
  await page.getByText("The bank was down.").waitFor();
  await waitUntilLoaded(page);
  await expectAccessible(page, "finished");
  expect(await getAction(ann, page)).toMatchObject({
    version: 2,
    reason: "The bank was down.",
    concurrency: 7,
  });
  await page.getByRole("button", { name: "skipped (0)" }).click();
  await page.getByText("No such runs").waitFor();
  expect(page.url()).toContain("?result=skipped");
  await page.getByRole("button", { name: "all (3)" }).click();
  const row = page.getByRole("table", { name: "Runs" }).getByRole("row").nth(1);
  await row.getByText(runs[0]!.id).waitFor();
  await row.getByText("succeeded", { exact: true }).waitFor();
  await page.getByRole("link", { name: "All bulk actions" }).click();
  await heading(page, "Bulk actions").waitFor();
  await page.getByRole("link", { name: "Retry of 3 runs of pay" }).waitFor();
  await waitUntilLoaded(page);
  await expectAccessible(page, "list");
  expect(problems).toEqual([expect.stringContaining("a status of 409")]);
});

it("acts on selected runs that fit, in every width, and gives a reason where none does", async () => {
  const site = await openPaymentSite();
  const ann = await createFirstAdmin(site);
  const vera = await addPerson(site, ann, "vera@example.com", "viewer");
  await failedRuns(ann, 3);
  const step = { type: "wait", for: "1h" };
  await requestApi(ann, "POST", "/runs", { step, wait: 0 });
  await eventually(
    async () => (await requestApi<Run[]>(ann, "GET", "/runs?status=waiting"))[0],
    "the waiting run",
  );
  const browser = await openBrowser();
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1440, 390]) {
      const { page, visit } = await openWindow(browser, site, ann, {
        viewport: { width, height: 900 },
        colorScheme,
      });
      await visit("/runs");
      await page.getByRole("button", { name: "Retry all failed…" }).waitFor();
      await page.getByRole("button", { name: "Cancel all unfinished…" }).waitFor();
      await expectAccessible(page, `runs-${width}-${colorScheme}`);
      const boxes = page.getByRole("checkbox", { name: /^Select run_/ });
      for (const index of [0, 1, 3]) await boxes.nth(index).check();
      await page.getByText("3 selected", { exact: true }).waitFor();
      await expectAccessible(page, `selection-${width}-${colorScheme}`);
      await page.getByRole("button", { name: "Retry 2 selected…" }).click();
      const dialog = page.getByRole("dialog", { name: "Retry runs" });
      await dialog.getByText("2 runs would be retried.").waitFor();
      await dialog.getByText("1 selected run is left out: it has not ended.").waitFor();
      await expectAccessible(page, `dialog-${width}-${colorScheme}`);
      await dialog.getByRole("button", { name: "Cancel", exact: true }).click();
      await page.getByRole("button", { name: "Clear selection" }).click();
      await page.getByRole("checkbox", { name: /^(Select all listed runs|All listed)$/ }).check();
      await page.getByText("4 selected", { exact: true }).waitFor();
      await visit("/runs?status=failed");
      const cancel = page.getByRole("button", { name: "Cancel…" });
      expect(await cancel.getAttribute("aria-disabled")).toBe("true");
      await cancel.focus();
      await page.getByRole("tooltip", { name: "The filter finds only runs that have ended." }).waitFor();
      await expectAccessible(page, `reason-${width}-${colorScheme}`);
      await page.context().close();
    }
  const view = await openWindow(browser, site, vera);
  await view.visit("/runs");
  expect(await view.page.getByRole("checkbox").count()).toBe(0);
  expect(await view.page.getByRole("button", { name: /^(Retry|Cancel)/ }).count()).toBe(0);
});

it("cancels runs, and a bulk action with its unfinished retries", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const failing = {
    steps: [
      { id: "gate", type: "assert", that: "inputs.open", message: "Closed." },
      { id: "pause", type: "wait", for: "1h" },
    ],
    inputs: { type: "object", properties: { open: { type: "boolean", default: false } } },
    output: "done",
  };
  await requestApi(ann, "POST", "/workflows", { name: "Gate", definition: failing });
  for (let run = 0; run < 3; run += 1)
    await requestApi(ann, "POST", "/workflows/gate/runs", { inputs: {}, wait: 60 });
  await requestApi(ann, "PATCH", "/workflows/gate", {
    definition: { ...failing, steps: [failing.steps[1]] },
  });
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  await visit("/runs?status=failed");
  await page.getByRole("button", { name: "Retry all 3…" }).click();
  const retry = page.getByRole("dialog", { name: "Retry runs" });
  await selectOption(page, retry.getByRole("combobox", { name: "Version" }), "Version 2");
  await retry.getByText("gate, version 2").waitFor();
  await retry.getByLabel("Rate").fill("1/h");
  await retry.getByLabel("At a time").fill("1");
  await retry.getByRole("button", { name: "Retry 3 runs" }).click();
  await heading(page, "Retry of 3 runs of gate").waitFor();
  await page.getByText("1 retried, 0 skipped, 2 pending.").waitFor();
  await page.getByRole("group", { name: "Retries by status" }).getByText("1 waiting").waitFor();
  await waitUntilLoaded(page);
  await expectAccessible(page, "running-1280");
  await page.setViewportSize({ width: 390, height: 900 });
  await expectAccessible(page, "running-390");
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole("button", { name: "Cancel…" }).click();
  const cancel = page.getByRole("dialog", { name: "Cancel this bulk action?" });
  await cancel.getByText("2 pending runs are left out.").waitFor();
  await expectAccessible(page, "cancel");
  await cancel.getByRole("checkbox", { name: "Cancel its unfinished retries too" }).check();
  await cancel.getByRole("button", { name: "Cancel the bulk action" }).click();
  await page.getByText("1 retried, 0 skipped, 2 left out.").waitFor();
  await page.getByText("cancelled by ann@example.com").waitFor();
  await page.getByRole("group", { name: "Retries by status" }).getByText("1 cancelled").waitFor();

  await requestApi(ann, "POST", "/workflows/gate/runs", { inputs: {}, wait: 0 });
  await requestApi(ann, "POST", "/workflows/gate/runs", { inputs: {}, wait: 0 });
  await visit("/runs?workflow=gate");
  await page.getByRole("button", { name: "Cancel all unfinished…" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel runs" });
  await dialog.getByText("All unfinished runs of gate.").waitFor();
  await dialog.getByText("2 runs would be cancelled.").waitFor();
  await expectAccessible(page, "cancel-runs");
  await dialog.getByRole("button", { name: "Cancel 2 runs" }).click();
  await heading(page, "Cancellation of 2 runs of gate").waitFor();
  await page.getByText("2 cancelled, 0 skipped.").waitFor();
  expect(await getAction(ann, page)).toMatchObject({ action: "cancel", runs: { total: 2, done: 2 } });
});

it("keeps an open dialog when the last run of the list behind it ends", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const { id } = await requestApi(ann, "POST", "/runs", { step: { type: "wait", for: "1h" }, wait: 0 });
  await eventually(
    async () => (await requestApi<Run[]>(ann, "GET", "/runs?status=waiting"))[0],
    "the waiting run",
  );
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  await visit("/runs?status=waiting");
  await page.getByRole("button", { name: "Cancel all 1…" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel runs" });
  await dialog.getByText("1 run would be cancelled.").waitFor();
  await dialog.getByLabel("Reason").fill("Too slow.");
  await requestApi(ann, "POST", `/runs/${id}/cancel`, {});
  await page.getByText("No matching runs").waitFor();
  expect(await dialog.getByLabel("Reason").inputValue()).toBe("Too slow.");
});

it("downloads all runs that fit the filter, page by page", async () => {
  const site = await openPaymentSite();
  const ann = await createFirstAdmin(site);
  const runs = await failedRuns(ann, 2);
  await requestApi(ann, "POST", "/runs", { step: { type: "set", values: { a: 1 } }, wait: 60 });
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  await visit("/runs?status=failed");
  const save = async (type: string): Promise<string> => {
    await page.getByRole("button", { name: "Download" }).click();
    const saved = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: type }).click();
    return readFileSync(await (await saved).path(), "utf8");
  };
  const lines = (await save("CSV")).trimEnd().split("\r\n");
  expect(lines[0]).toBe(
    "\uFEFFid,workflow_id,project,version,status,trigger,created_at,started_at,finished_at,error_step,error_code,error_message",
  );
  expect(lines.slice(1).map((line) => line.split(",", 5))).toEqual(
    runs.toReversed().map(({ id }) => [id, "pay", "default", "1", "failed"]),
  );
  const saved = JSON.parse(await save("JSON")) as Run[];
  expect(saved.map(({ id }) => id)).toEqual(runs.map(({ id }) => id).toReversed());
  await page.getByText("Saved 2 runs.").first().waitFor();
});

it("goes on with a download when another filter is chosen, even one without runs", async () => {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  for (let run = 0; run < 2; run += 1)
    await requestApi(ann, "POST", "/runs", { step: { type: "set", values: { a: 1 } }, wait: 60 });
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  await visit("/runs?status=succeeded");
  const chosen = Promise.withResolvers<void>();
  await page.route(/limit=200/, async (route) => {
    await chosen.promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "Download" }).click();
  const saved = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "JSON" }).click();
  await page.getByText("Reading runs: 0 of 2…").waitFor();
  await page.getByLabel("Until").fill("2020-01-01");
  await page.getByText("No matching runs").waitFor();
  await page.getByText("Reading runs: 0 of 2…").waitFor();
  chosen.resolve();
  expect(JSON.parse(readFileSync(await (await saved).path(), "utf8"))).toHaveLength(2);
  expect(await page.getByRole("button", { name: "Download", exact: true }).isDisabled()).toBe(true);
});
