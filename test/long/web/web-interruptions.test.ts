/** Interrupted effects in a browser: what is known of the attempt is shown, and a person answers whether the effect happened. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { eventually, untilPassing } from "../../support/eventually.ts";
import { childrenOf } from "../../support/process.ts";
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
  type Site,
  takeScreenshot,
  WAIT_TIMEOUT_MS,
  waitUntilLoaded,
} from "../../support/web.ts";
import type { Interruption } from "../../../schemas/interruption.ts";
import type { Run } from "../../../schemas/run.ts";

/** A bank on loopback that answers no payment until `answer` is called. */
async function openBank() {
  const keys: string[] = [];
  let answers = false;
  const server = createServer((request, response) => {
    keys.push(String(request.headers["idempotency-key"]));
    if (answers) response.writeHead(201, { "content-type": "application/json" }).end('{"id":"pay_18"}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, keys, answer: () => (answers = true) };
}

/** Ends the executors of the site as a crash would. */
const killExecutors = ({ program }: Site): void => {
  for (const pid of childrenOf(program.child)) process.kill(pid, "SIGKILL");
};

const paymentsTo = (host: string, more: object) => ({
  inputs: { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] },
  steps: [
    {
      id: "pay",
      type: "http",
      method: "POST",
      url: `http://${host}/payments`,
      body: { amount: "${{ inputs.amount }}", currency: "EUR" },
      ...more,
    },
    { id: "receipt", type: "set", values: { code: "${{ steps.pay.status_code }}" } },
  ],
});

async function openPaymentSite() {
  const bank = await openBank();
  const stateDir = newStateDirectory();
  const path = join(stateDir, "config.yaml");
  const config = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...config, http: { allowed_hosts: [bank.host] } }));
  const site = await openSite({ stateDir });
  const ann = await createFirstAdmin(site);

  /** A payment during which the executor is killed, and for which its run waits then. */
  async function killedPayment(amount: number): Promise<string> {
    const before = bank.keys.length;
    const { id } = await requestApi(ann, "POST", "/workflows/payout/runs", { inputs: { amount }, wait: 0 });
    await eventually(() => bank.keys[before], "the payment", WAIT_TIMEOUT_MS);
    killExecutors(site);
    await eventually(
      async () => (await getRun(ann, id)).interruptions?.find(({ waiting }) => waiting),
      "the interruption",
      3 * WAIT_TIMEOUT_MS,
    );
    return id;
  }

  /** A payment that is not answered in time, so its run fails. */
  const latePayment = (amount: number) =>
    requestApi<Run>(ann, "POST", "/workflows/late/runs", { inputs: { amount }, wait: 30 });

  await requestApi(ann, "POST", "/workflows", {
    name: "Payout",
    definition: paymentsTo(bank.host, { on_interrupted: "ask" }),
  });
  await requestApi(ann, "POST", "/workflows", {
    name: "Late",
    definition: paymentsTo(bank.host, { timeout: "1s" }),
  });
  return { bank, site, ann, killedPayment, latePayment };
}

const getRun = (person: Person, id: string) => requestApi<Run>(person, "GET", `/runs/${id}`);

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
  await waitUntilLoaded(page);
  await takeScreenshot(page, name);
  // The menu of a window that has just become narrow is still moving.
  await untilPassing(async () =>
    expect({ name, overflow: await overflow(page) }).toEqual({ name, overflow: 0 }),
  );
  expect({ name, issues: await violations(page) }).toEqual({ name, issues: [] });
}

it("asks whether the effect happened, and continues with the output that a person enters", async () => {
  const { bank, site, ann, killedPayment } = await openPaymentSite();
  const runId = await killedPayment(250);
  const browser = await openBrowser();
  const { page, visit, problems } = await openWindow(browser, site, ann, {
    viewport: { width: 1440, height: 900 },
  });
  await visit("/");
  const notice = page.getByRole("status").filter({ hasText: "1 open interruption" });
  await notice.getByText("the run waits").waitFor();
  await expectAccessible(page, "home");
  await notice.getByRole("link", { name: "Did the effect of pay happen?" }).click();

  const question = page.getByRole("region", { name: "Did the effect of pay happen?" });
  await question.getByText("The executor ended before an answer came.").waitFor();
  await question.getByText("The run waits until somebody answers.").waitFor();
  await question.getByText(bank.keys[0]!).waitFor();
  await question.getByText("pay (http)").waitFor();
  await question.getByText("250").waitFor();
  const save = question.getByRole("button", { name: "Save answer…" });
  expect(await save.isDisabled()).toBe(true);
  await question.getByRole("radio", { name: "It did not happen" }).check();
  expect(await question.getByLabel("Output").count()).toBe(0);
  await question.getByRole("radio", { name: "It happened" }).check();
  const output = question.getByLabel("Output");
  await untilPassing(async () =>
    expect(JSON.parse(await output.inputValue())).toEqual({ status_code: null, headers: null, body: null }),
  );
  await output.fill("{");
  await question.getByText(/^Invalid JSON/).waitFor();
  await save.click();
  expect(await page.getByRole("dialog").count()).toBe(0);
  await output.fill('{"status_code": 201, "body": {"id": "pay_17"}}');
  await question.getByLabel("Comment").fill("Seen in the ledger of the bank.");
  await expectAccessible(page, "question-filled");
  await save.click();
  const dialog = page.getByRole("dialog", { name: /pay happen\? It happened$/ });
  await dialog.getByText("The step ends with the output that you enter.").waitFor();
  await expectAccessible(page, "confirm");
  await dialog.getByRole("button", { name: "Save answer" }).click();
  await page.getByText("Answer saved. The run continues.").waitFor();
  await question.waitFor({ state: "detached" });
  await page.getByText("succeeded", { exact: true }).first().waitFor();
  await page.getByText("Seen in the ledger of the bank.").waitFor();
  await page.getByText("It happened", { exact: true }).waitFor();
  await expectAccessible(page, "answered");
  expect(bank.keys).toHaveLength(1);
  expect(await getRun(ann, runId)).toMatchObject({ status: "succeeded", output: { code: 201 } });
  expect(problems).toEqual([]);
});

it("shows open interruptions in every width and scheme, and marks their runs in the lists", async () => {
  const { site, ann, killedPayment, latePayment } = await openPaymentSite();
  const vera = await addPerson(site, ann, "vera@example.com", "viewer");
  const waiting = await killedPayment(250);
  const late = await latePayment(99);
  expect(late).toMatchObject({ status: "failed", open_interruptions: 1 });
  const browser = await openBrowser();
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1440, 390]) {
      const { page, visit } = await openWindow(browser, site, ann, {
        viewport: { width, height: 900 },
        colorScheme,
      });
      const name = (view: string): string => `${view}-${width}-${colorScheme}`;
      await visit("/runs");
      const marks = page.getByRole("link", { name: /^1 open interruption: / }).filter({ visible: true });
      await untilPassing(async () => expect(await marks.count()).toBe(2));
      await marks.first().focus();
      await page.getByRole("tooltip", { name: /^1 open interruption: / }).waitFor();
      await marks.first().blur();
      await expectAccessible(page, name("runs"));
      await visit("/workflows/payout");
      await marks.waitFor();
      await expectAccessible(page, name("workflow"));
      await visit("/approvals");
      await page.getByText("2 open interruptions").waitFor();
      await expectAccessible(page, name("approvals"));
      await visit("/");
      await page.getByText("2 open interruptions").waitFor();
      await expectAccessible(page, name("home"));
      await visit("/interruptions");
      await page.getByText("2 of 2").waitFor();
      await expectAccessible(page, name("interruptions"));
      await visit(`/runs/${waiting}`);
      await page.getByRole("radio", { name: "It happened" }).check();
      await page.getByLabel("Output").waitFor();
      await expectAccessible(page, name("run-waiting"));
      await visit(`/runs/${late.id}`);
      await page.getByText("A retry of the run sends it again.").waitFor();
      await expectAccessible(page, name("run-ended"));
      await page.context().close();
    }
  const { page, visit } = await openWindow(browser, site, vera);
  await visit(`/runs/${late.id}`);
  await page.getByText("You can't answer this").waitFor();
  expect(await page.getByRole("radio", { name: "It happened" }).isDisabled()).toBe(true);
  await expectAccessible(page, "viewer");
});

it("records the answer for a run that has ended, once, and lists it by status", async () => {
  const { site, bank, ann, latePayment } = await openPaymentSite();
  const first = await latePayment(1);
  const second = await latePayment(2);
  const { page, visit, errorResponses } = await openWindow(await openBrowser(), site, ann);
  await visit(`/runs/${first.id}`);
  await page.getByText("The time limit passed before an answer came. The run has ended.").waitFor();
  await page.getByRole("radio", { name: "It did not happen" }).check();
  await page.getByLabel("Comment").fill("The bank knows nothing of it.");
  await page.getByRole("button", { name: "Save answer…" }).click();
  const dialog = page.getByRole("dialog", { name: /pay happen\? It did not happen$/ });
  await dialog.getByText("A retry of the run sends it again.").waitFor();
  await dialog.getByRole("button", { name: "Save answer" }).click();
  await page.getByText("Answer saved.", { exact: true }).waitFor();
  await page.getByRole("region", { name: /^Did the effect/ }).waitFor({ state: "detached" });
  await page.getByText("The bank knows nothing of it.").waitFor();

  // Somebody else answers while the form is open.
  await visit(`/runs/${second.id}`);
  await page.getByRole("radio", { name: "Nobody can say" }).check();
  const { interruptions } = await getRun(ann, second.id);
  await requestApi<Interruption>(ann, "POST", `/interruptions/${interruptions![0]!.id}/settle`, {
    outcome: "happened",
    output: { status_code: 201 },
  });
  await page.getByRole("button", { name: "Save answer…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save answer" }).click();
  await page.getByRole("region", { name: /^Did the effect/ }).waitFor({ state: "detached" });
  expect(errorResponses).toEqual([`409 POST /interruptions/${interruptions![0]!.id}/settle`]);

  await visit("/interruptions");
  await page.getByText("No open interruptions").waitFor();
  await expectAccessible(page, "none-open");
  await selectOption(page, page.getByRole("combobox", { name: "Status" }), "Settled");
  await page.getByText("2 of 2").waitFor();
  expect(new URL(page.url()).searchParams.get("status")).toBe("settled");
  await expectAccessible(page, "list-settled");
  bank.answer();
  await page.getByRole("link", { name: "Did the effect of pay happen?" }).first().click();
  await heading(page, "Run of late").waitFor();
});

it("shows the interrupted items of a running fan-out without a reload, and asks for each", async () => {
  const { site, bank, ann } = await openPaymentSite();
  const [pay] = paymentsTo(bank.host, { on_interrupted: "ask" }).steps;
  const steps = [{ ...pay, for_each: "[1, 2]", concurrency: 2 }];
  const inputs = { type: "object", properties: { amount: { type: "integer", default: 7 } } };
  await requestApi(ann, "POST", "/workflows", { name: "Batch", definition: { inputs, steps } });
  const { id } = await requestApi(ann, "POST", "/workflows/batch/runs", { inputs: {}, wait: 0 });
  const { page, visit, problems } = await openWindow(await openBrowser(), site, ann);
  await visit(`/runs/${id}`);
  await page.getByText("Live", { exact: true }).waitFor();
  await untilPassing(() => expect(bank.keys).toHaveLength(2));
  killExecutors(site);
  const questions = page.getByRole("region", { name: /^Did the effect of pay, item \d, happen\?$/ });
  await questions.nth(1).waitFor({ timeout: 3 * WAIT_TIMEOUT_MS });
  await page.getByText("The run waits until somebody answers.").nth(1).waitFor();
  const radio = questions.getByRole("radio", { name: "It happened" });
  expect(await radio.count()).toBe(1);
  const show = page.getByRole("button", { name: /^Show pay, item / });
  expect(await show.getAttribute("aria-expanded")).toBe("false");
  await show.click();
  await radio.nth(1).waitFor();
  await page
    .getByRole("button", { name: /^Hide pay, item / })
    .nth(1)
    .click();
  await expectAccessible(page, "items");
  for (const left of [1, 0]) {
    await radio.first().check();
    await questions.first().getByRole("button", { name: "Save answer…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save answer" }).click();
    await untilPassing(async () => expect(await questions.count()).toBe(left));
  }
  await page.getByText("succeeded", { exact: true }).first().waitFor();
  await visit(`/runs/${id}?step=pay`);
  for (const item of [0, 1]) await page.getByText(`Item ${item}, attempt 1:`).waitFor();
  await expectAccessible(page, "items-answered");
  expect(bank.keys).toHaveLength(2);
  expect(problems).toEqual([]);
});

it("says that a later attempt decides where the step was sent again and succeeded", async () => {
  const { site, bank, ann } = await openPaymentSite();
  await requestApi(ann, "POST", "/workflows", { name: "Again", definition: paymentsTo(bank.host, {}) });
  const { id } = await requestApi(ann, "POST", "/workflows/again/runs", { inputs: { amount: 5 }, wait: 0 });
  await eventually(() => bank.keys[0], "the payment", WAIT_TIMEOUT_MS);
  bank.answer();
  killExecutors(site);
  await eventually(
    async () => (await getRun(ann, id)).status === "succeeded" || undefined,
    "the end of the run",
    3 * WAIT_TIMEOUT_MS,
  );
  expect(bank.keys[1]).toBe(bank.keys[0]);
  const { page, visit } = await openWindow(await openBrowser(), site, ann);
  await visit(`/runs/${id}`);
  await page.getByText("The executor ended before an answer came. A later attempt followed.").waitFor();
  await page.getByRole("radio", { name: "It happened" }).check();
  await page.getByText("The effect may have happened twice.").waitFor();
  expect(await page.getByLabel("Output", { exact: true }).count()).toBe(0);
  await expectAccessible(page, "superseded");
});
