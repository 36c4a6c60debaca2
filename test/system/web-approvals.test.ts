/** Approvals in the browser: decided from the list, by two people, passed on, and with a substitute. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { accessibilityIssues } from "../support/accessibility.ts";
import { decisionBrowser, digestIn, PAYMENT as PAYMENT_BY_LINK } from "../support/decisions.ts";
import { eventually } from "../support/eventually.ts";
import {
  addPerson,
  createFirstAdmin,
  openBrowser,
  openSite,
  openWindow,
  type Person,
  requestApi,
  takeScreenshot,
  WAIT_TIMEOUT_MS,
} from "../support/web.ts";

const PAYMENT = {
  inputs: { type: "object", properties: { amount: { type: "number", default: 12_000 } } },
  steps: [
    { id: "invoice", type: "set", values: { number: "2026-117", amount: "${{ inputs.amount }}" } },
    {
      id: "release",
      type: "approval",
      message: "Pay ${{ inputs.amount }} EUR for the invoice ${{ steps.invoice.number }}?",
      assignees: ["ben@example.com", "cai@example.com", "admin"],
      required: 2,
      escalate: { after: "8h", to: ["eve@example.com"] },
      timeout: "2d",
    },
    {
      id: "pay",
      type: "http",
      if: "steps.release.approved && inputs.amount > 50000",
      method: "POST",
      url: "https://bank.example.com/payments",
      body: { amount: "${{ inputs.amount }}" },
    },
  ],
  output: { by: "${{ steps.release.decisions.map(d, d.by) }}" },
};

async function openPayments() {
  const site = await openSite();
  const ann = await createFirstAdmin(site);
  const add = (email: string) => addPerson(site, ann, email, "editor");
  const [dan, ben, cai, eve] = [
    await add("dan@example.com"),
    await add("ben@example.com"),
    await add("cai@example.com"),
    await add("eve@example.com"),
  ];
  await requestApi(dan, "POST", "/workflows", { name: "Payment", definition: PAYMENT });
  const start = async (amount: number) => {
    const run = await requestApi(dan, "POST", "/workflows/payment/runs", { inputs: { amount } });
    const approval = await eventually(
      async () => (await requestApi<{ id: string }[]>(ann, "GET", `/approvals?run_id=${run.id}`))[0],
      "the approval",
      WAIT_TIMEOUT_MS,
    );
    return { run: run.id, approval: approval.id };
  };
  return { site, start, ann, ben, cai, dan, eve };
}

const card = (page: Page, text: string) => page.getByRole("listitem").filter({ hasText: text }).first();

const succeeded = (person: Person, run: string) =>
  eventually(
    async () => {
      const found = await requestApi<{ status: string; output?: unknown }>(person, "GET", `/runs/${run}`);
      return found.status === "succeeded" ? found : undefined;
    },
    "the end of the run",
    WAIT_TIMEOUT_MS,
  );

it("is decided by two people from the list, with the plan and the evidence in view", async () => {
  const { site, start, ann, ben, cai, dan } = await openPayments();
  const { run, approval } = await start(12_000);
  const browser = await openBrowser();

  const starter = await openWindow(browser, site, dan);
  await starter.visit("/approvals");
  const own = card(starter.page, "Pay 12000 EUR");
  await own.getByText("is assigned to").waitFor();
  expect(await own.getByRole("button", { name: "Approve" }).isDisabled()).toBe(true);
  expect(await own.getByRole("button", { name: "Decline" }).isDisabled()).toBe(true);

  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1440, 390]) {
      const view = await openWindow(browser, site, cai, { viewport: { width, height: 900 }, colorScheme });
      await view.visit("/approvals");
      const shown = card(view.page, "Pay 12000 EUR");
      await shown.getByText("assigned to you").waitFor();
      await takeScreenshot(view.page, `list-${width}-${colorScheme}`);
      await shown.getByRole("button", { name: "Plan, inputs and comment" }).click();
      await shown.getByText("Sends POST to bank.example.com").waitFor();
      await shown.getByRole("button", { name: "invoice" }).click();
      await shown.getByText("2026-117").last().waitFor();
      const overflow = await view.page.evaluate<number>(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      );
      expect({ width, overflow }).toEqual({ width, overflow: 0 });
      expect(await accessibilityIssues(view.page)).toEqual([]);
      await takeScreenshot(view.page, `open-${width}-${colorScheme}`);
    }

  const follower = await openWindow(browser, site, ann);
  await follower.visit(`/runs/${run}?tab=timeline`);
  const row = follower.page.locator("[data-step]").filter({ hasText: "approval" });
  await row
    .getByText(/, 0 of 2 approved$/)
    .first()
    .waitFor();
  const reader = await openWindow(browser, site, dan);
  await reader.visit(`/approvals/${approval}`);
  await reader.page.getByText("0 of 2 approved").first().waitFor();

  const first = await openWindow(browser, site, ben);
  await first.visit("/approvals?for_me=decidable");
  await first.page.getByRole("link", { name: /Approvals.*1/ }).waitFor();
  const theirs = card(first.page, "Pay 12000 EUR");
  await theirs.getByText("0 of 2 approved").waitFor();
  await theirs.getByRole("button", { name: "Approve" }).click();
  await first.page.getByText("Approved. 1 of 2 approved.").waitFor();
  await first.page.getByText("No approvals wait for your decision").waitFor();
  await row
    .getByText(/, 1 of 2 approved$/)
    .first()
    .waitFor();
  await row
    .getByText(/, ben@example.com approved \(after /)
    .first()
    .waitFor();
  await follower.page.getByText("Decision, reminder or escalation").waitFor();
  expect(await accessibilityIssues(follower.page)).toEqual([]);
  await takeScreenshot(follower.page, "timeline");
  await reader.page.getByText("1 of 2 approved").first().waitFor();
  await first.visit("/approvals");
  const decided = card(first.page, "Pay 12000 EUR");
  await decided.getByText("You approved").waitFor();
  expect(await decided.getByRole("button", { name: "Approve" }).isDisabled()).toBe(true);
  await takeScreenshot(first.page, "decided-by-me");

  const second = await openWindow(browser, site, cai);
  await second.visit("/approvals?for_me=assigned");
  const open = card(second.page, "Pay 12000 EUR");
  await open.getByRole("button", { name: "Plan, inputs and comment" }).click();
  await open.getByText("ben@example.com approved").waitFor();
  await open.getByLabel("Comment").fill("The invoice is right.");
  await open.getByRole("button", { name: "Approve" }).click();
  await second.page.getByText("Approved. The run continues.").waitFor();
  expect((await succeeded(ann, run)).output).toEqual({ by: ["ben@example.com", "cai@example.com"] });
  await second.visit(`/runs/${run}`);
  await takeScreenshot(second.page, "run");
});

/** The card of the home page with the approvals that a person can decide. */
const needed = (page: Page) =>
  page
    .getByRole("heading", { name: "Needs your approval" })
    .locator("xpath=ancestor::*[contains(@class, 'Card')][1]");

it("says what has changed since the question, and is reviewed; what the decision let run stays in view", async () => {
  const { site, start, ann, ben, cai, dan } = await openPayments();
  const { run, approval } = await start(7);
  await requestApi(cai, "POST", `/approvals/${approval}`, { decision: "approve" });
  const browser = await openBrowser();
  const done = await openWindow(browser, site, cai);
  await done.visit("/");
  await needed(done.page).getByText("No approvals wait for your decision.").waitFor();
  const starter = await openWindow(browser, site, dan);
  await starter.visit("/");
  await needed(starter.page).getByText("No approvals wait for your decision.").waitFor();

  await requestApi(ann, "PATCH", "/projects/default", { http_public: "none" });
  const change = '"pay" may not call https://bank.example.com any more.';
  for (const [width, colorScheme] of [
    [1440, "light"],
    [390, "dark"],
  ] as const) {
    const view = await openWindow(browser, site, ben, { viewport: { width, height: 900 }, colorScheme });
    await view.visit("/approvals");
    const shown = card(view.page, "Pay 7 EUR");
    await shown.getByText(change).waitFor();
    await shown.getByText("The decision of cai@example.com no longer counts").waitFor();
    await shown.getByRole("button", { name: "Review and decide" }).waitFor();
    expect(await accessibilityIssues(view.page)).toEqual([]);
    await takeScreenshot(view.page, `changed-${width}-${colorScheme}`);
  }
  const view = await openWindow(browser, site, ben);
  await view.visit("/");
  await needed(view.page).getByRole("link", { name: "Pay 7 EUR" }).click();
  await view.page.getByRole("heading", { name: "What can run after the decision" }).waitFor();
  await view.page.getByText(change).waitFor();
  await view.visit("/approvals");
  await card(view.page, "Pay 7 EUR").getByRole("button", { name: "Review and decide" }).click();
  await card(view.page, "Pay 7 EUR").getByRole("button", { name: "Approve" }).click();
  await view.page.getByText("Approved. 1 of 2 approved.").waitFor();
  const { plan } = await requestApi<{ plan: { digest: string } }>(cai, "GET", `/approvals/${approval}`);
  await requestApi(cai, "POST", `/approvals/${approval}`, { decision: "approve", plan_digest: plan.digest });
  await succeeded(ann, run);
  await view.visit(`/approvals/${approval}`);
  await view.page.getByRole("heading", { name: "What the decision let run" }).waitFor();
  await view.page.getByText("Sends POST to bank.example.com").waitFor();
  await takeScreenshot(view.page, "decided-plan");
});

it("is passed on to another person, and decided by a substitute", async () => {
  const { site, start, ben, cai, eve, ann } = await openPayments();
  const { run, approval } = await start(300);
  const browser = await openBrowser();

  const passing = await openWindow(browser, site, ben);
  await passing.visit(`/approvals/${approval}`);
  await takeScreenshot(passing.page, "page");
  await passing.page.getByRole("button", { name: "Pass on to somebody else" }).click();
  const dialog = passing.page.getByRole("dialog");
  await dialog.getByLabel("E-mail address").fill("cai@example.com");
  await dialog.getByRole("button", { name: "Pass on" }).click();
  await dialog.getByText(/can decide apr_\S+ already/i).waitFor();
  await dialog.getByLabel("E-mail address").fill("eve@example.com");
  await dialog.getByLabel("Note").fill("I am travelling.");
  await takeScreenshot(passing.page, "pass-on");
  await dialog.getByRole("button", { name: "Pass on" }).click();
  await passing.page.getByText("You passed", { exact: false }).first().waitFor();
  expect(await passing.page.getByRole("button", { name: "Approve" }).isDisabled()).toBe(true);
  await takeScreenshot(passing.page, "passed-on");

  const away = await openWindow(browser, site, cai);
  await away.visit("/account");
  await away.page.getByLabel("Back at").fill("2099-01-01T08:00");
  await away.page.getByLabel("Substitute").fill("ben@example.com");
  await away.page.getByRole("button", { name: "Save absence" }).click();
  await away.page.getByText("must be at most 400 days ahead").waitFor();
  const back = new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 16);
  await away.page.getByLabel("Back at").fill(back);
  await takeScreenshot(away.page, "absence-form");
  await away.page.getByRole("button", { name: "Save absence" }).click();
  await away.page.getByText("ben@example.com decides in your place").waitFor();
  await takeScreenshot(away.page, "absence");

  await requestApi(eve, "POST", `/approvals/${approval}`, { decision: "approve" });
  // Ben has passed on the own place, and stands in for Cai.
  await passing.visit(`/approvals/${approval}`);
  await passing.page.getByText("You decide in the place of cai@example.com").waitFor();
  await takeScreenshot(passing.page, "substitute");
  await passing.page.getByRole("button", { name: "Approve" }).click();
  await passing.page.getByText("Approved. The run continues.").waitFor();
  await succeeded(ann, run);
  await passing.visit(`/approvals/${approval}`);
  await takeScreenshot(passing.page, "outcome");
});

it("shows the evidence, that a link decided, and to admins who opened it", async () => {
  const site = await openSite({ mail: true });
  const ann = await createFirstAdmin(site);
  await requestApi(ann, "POST", "/workflows", { name: "Payment", definition: PAYMENT_BY_LINK });
  const run = await requestApi(ann, "POST", "/workflows/payment/runs", { inputs: { amount: 1250 } });
  const link = await site.decisionLink();
  const [{ id }] = await requestApi<[{ id: string }]>(ann, "GET", `/approvals?run_id=${run.id}`);
  const browser = await openBrowser();

  const list = await openWindow(browser, site, ann);
  await list.visit("/approvals");
  const listed = card(list.page, "Pay 1250");
  await listed.getByRole("button", { name: "Plan, inputs and comment" }).click();
  await listed.getByText("A-1").first().waitFor();

  const opened = await decisionBrowser(site.url)("GET", link);
  const other = decisionBrowser(site.url, "Mozilla/5.0 (Windows NT 10.0) Chrome/140.0.0.0 Safari/537.36");
  const digest = digestIn(opened.html);
  expect((await other("POST", link, { decision: "approve", plan_digest: digest })).status).toBe(200);
  await succeeded(ann, run.id);

  for (const [width, colorScheme] of [
    [1440, "light"],
    [390, "dark"],
  ] as const) {
    const view = await openWindow(browser, site, ann, { viewport: { width, height: 900 }, colorScheme });
    await view.visit(`/approvals/${id}`);
    await view.page.getByRole("status").getByText("By the link that was sent to cfo@example.com").waitFor();
    await view.page.getByRole("heading", { name: "Evidence" }).waitFor();
    await view.page.getByText("A-2").first().waitFor();
    const visits = view.page.getByRole("list", { name: "Who opened the links" }).getByRole("listitem");
    await visits.first().waitFor();
    expect(await visits.allInnerTexts()).toEqual([
      expect.stringMatching(/^The link to cfo@example.com was opened from \S+ with Chrome.*another browser/),
      expect.stringMatching(/^The link to cfo@example.com was opened from \S+ with Firefox(?!.*another)/),
    ]);
    const overflow = await view.page.evaluate<number>(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    expect({ width, overflow }).toEqual({ width, overflow: 0 });
    expect(await accessibilityIssues(view.page)).toEqual([]);
    await takeScreenshot(view.page, `by-link-${width}-${colorScheme}`);
  }

  await list.visit("/audit");
  await list.page.getByText("Open decision link: again").first().waitFor();
});
