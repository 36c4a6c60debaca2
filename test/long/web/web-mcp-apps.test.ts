/** The views of MCP Apps in a host: the bridge of the SDK and the sandbox of the MCP Inspector, in a real browser. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type FrameLocator } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { type AppHostPage, serveAppHost, type ShownApp } from "../../support/app-host.ts";
import { LAUNCH_OPTIONS, monitorPage } from "../../support/browser.ts";
import { apiClient } from "../../support/http.ts";
import { testInstance } from "../../support/instance.ts";
import { takeScreenshot } from "../../support/web.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Texts that would run a script if a view took them for HTML, or an address for a link. */
const ATTACKS = [
  `<img src="x" onerror="parent.postMessage('attacked', '*')">`,
  `</script><script>document.title = "attacked"</script>`,
  `<a href="javascript:alert(1)">Decide here</a>`,
  "javascript:alert(1)",
  "<!--",
  "\u202Edesrever",
];

const PAYMENT = {
  inputs: { type: "object", properties: { amount: { type: "number", default: 1250 } } },
  steps: [
    {
      id: "invoices",
      type: "set",
      values: {
        list: [
          { number: "A-1", total: 1200 },
          { number: ATTACKS[0], total: 50 },
        ],
      },
    },
    {
      id: "ask",
      type: "approval",
      message: `Pay \${{ inputs.amount }} to <Acme>?\n${ATTACKS.join("\n")}`,
      evidence: {
        invoices: "${{ steps.invoices.list }}",
        note: ATTACKS.join("\n"),
        [ATTACKS[0]!]: { nested: ATTACKS },
      },
      timeout: "2d",
    },
    {
      id: "pay",
      type: "set",
      if: "steps.ask.approved",
      values: { paid: "${{ inputs.amount }}", by: "${{ steps.ask.by }}" },
    },
  ],
  output: "${{ steps.pay }}",
};

const FAILING = {
  steps: [
    { id: "first", type: "set", values: { text: ATTACKS.join(" ") } },
    { id: "pause", type: "wait", for: "1s", needs: ["first"] },
    {
      id: "check",
      type: "assert",
      needs: ["pause"],
      that: "size(steps.first.text) < 3",
      message: `${ATTACKS.join(" ")} \${{ steps.first.text }}`,
    },
    { id: "never", type: "set", needs: ["check"], values: { x: 1 } },
  ],
};

/** The specification wants both permissions for the sandbox, about which the browser warns. */
const isFine = (text: string): boolean => text.includes("both allow-scripts and allow-same-origin");

async function open() {
  const instance = await testInstance();
  await instance.executor();
  const { url } = await instance.rest();
  const mcp = await instance.mcp();
  const author = apiClient(url, (await instance.key({ name: "author" })).value);
  const boss = apiClient(url, (await instance.key({ name: "boss", scopes: ["read", "approve"] })).value);
  const agent = await instance.key({ name: "agent", scopes: ["read", "run"] });
  const starter = apiClient(url, agent.value);
  for (const [name, definition] of Object.entries({ payment: PAYMENT, failing: FAILING })) {
    const { body } = await author("POST", "/workflows", { name, definition });
    expect(body.issues).toEqual([]);
    await author("POST", `/workflows/${name}/publish`, {});
  }
  const host = await serveAppHost();
  const browser = await chromium.launch(LAUNCH_OPTIONS);
  onTestFinished(() => browser.close());
  return {
    url,
    boss,
    run: async (workflow: string): Promise<string> =>
      (await starter("POST", `/workflows/${workflow}/runs`, { inputs: {}, wait: 20 })).body.id,
    async window(width = 1440, theme: "light" | "dark" = "light") {
      const context = await browser.newContext({ viewport: { width, height: 1_600 } });
      const monitored = monitorPage(await context.newPage(), isFine);
      const { page } = monitored;
      await page.goto(host.page);
      const ask = <T>(question: (of: AppHostPage) => T): Promise<T> =>
        page.evaluate(`(${question.toString()})(window.host)`) as Promise<T>;
      return {
        ...monitored,
        /** What views asked the host for. */
        links: () => ask(({ links }) => links),
        calls: () => ask(({ calls }) => calls),
        toDark: () => ask((of) => of.changeTheme("dark")),
        async show(shown: Pick<ShownApp, "tool" | "args"> & Partial<ShownApp>): Promise<FrameLocator> {
          const all: ShownApp = {
            url: `${mcp.url}/mcp`,
            key: agent.value,
            sandbox: host.sandbox,
            theme,
            ...shown,
          };
          await page.evaluate(`window.host.show(${JSON.stringify(all)})`);
          return page.frameLocator("iframe").frameLocator("iframe");
        },
        async assertSound(name: string): Promise<void> {
          const view = page.frames().at(-1)!;
          // Only the view: the frames around it are those of the host.
          await view.evaluate(AXE);
          expect(
            await view.evaluate(
              "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))",
            ),
          ).toEqual([]);
          expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
          expect(await view.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
          expect(
            await view.evaluate("document.querySelectorAll('main :is(img, script, a, iframe)').length"),
          ).toBe(0);
          expect(await view.title()).toMatch(/^(?:Approval|Run)$/);
          expect(await view.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(
            theme === "light" ? "rgb(255, 255, 255)" : "rgb(31, 32, 35)",
          );
          await takeScreenshot(page, `mcp-app-${name}-${theme}-${width}`);
          expect(monitored.problems).toEqual([]);
          expect(monitored.requestedHosts.size).toBe(3);
        },
      };
    },
  };
}

it("shows runs and approvals as texts in light and dark, wide and narrow", async () => {
  const { run, window } = await open();
  const failed = await run("failing");
  const waiting = await run("payment");
  const other = await run("payment");
  for (const theme of ["light", "dark"] as const)
    for (const width of [1440, 390]) {
      const { show, assertSound } = await window(width, theme);
      const failure = await show({ tool: "get_run", args: { run_id: failed } });
      await failure.getByRole("heading", { name: "Why it failed" }).waitFor();
      await failure.getByText("never, set, cancelled").waitFor({ state: "attached" });
      await assertSound("failed");
      const pending = await show({ tool: "get_run", args: { run_id: waiting } });
      await pending.getByRole("heading", { name: "Waits for an approval" }).waitFor();
      await pending.getByText("ask, approval, waiting").waitFor({ state: "attached" });
      await assertSound("waiting");
      const approval = await show({ tool: "list_approvals", args: { run_id: waiting } });
      await approval.getByRole("heading", { name: "What can run after the decision" }).waitFor();
      await assertSound("approval");
      const list = await show({ tool: "list_approvals", args: {} });
      await list.getByRole("heading", { name: "Approvals" }).waitFor();
      expect(await list.getByText(other).count()).toBe(1);
      await assertSound("approvals");
      await list.getByRole("button", { name: "Evidence and plan" }).first().click();
      await list.getByRole("heading", { name: "What can run after the decision" }).waitFor();
      await list.getByRole("button", { name: "All approvals" }).click();
      await list.getByText(other).waitFor();
    }
});

it("follows a run until it has ended, and leaves the decision to a person in the web interface", async () => {
  const { url, boss, run, window } = await open();
  const id = await run("payment");
  const { show, links, calls, problems } = await window();
  const view = await show({ tool: "get_run", args: { run_id: id } });
  await view.getByRole("button", { name: "Decide in Millrace" }).click();
  await view.getByRole("button", { name: "Open in Millrace" }).click();
  const { body: found } = await boss("GET", `/approvals?run_id=${id}`);
  const page = `${url}/ui/approvals/${found[0].id}`;
  await expect.poll(links).toEqual([page, `${url}/ui/runs/${id}`]);

  const approval = await show({ tool: "list_approvals", args: {} });
  await approval.getByText("pay (set): Touches nothing outside of the run").waitFor();
  await approval.getByRole("button", { name: "Decide in Millrace" }).click();
  await expect.poll(async () => (await links()).at(-1)).toBe(page);
  expect(
    (await boss("POST", `/approvals/${found[0].id}`, { decision: "approve", comment: "Fine." })).status,
  ).toBe(200);
  await approval.getByRole("heading", { name: "Approved" }).waitFor();
  await approval.getByText("By operator (boss).").waitFor();
  await approval.getByText("“Fine.”").waitFor();

  const ended = await show({ tool: "get_run", args: { run_id: id, fields: ["status"] } });
  await ended.getByText("pay, set, succeeded").waitFor({ state: "attached" });
  await ended.getByRole("heading", { name: "Output" }).waitFor();
  expect(new Set(await calls())).toEqual(new Set(["get_run", "list_approvals"]));
  expect(problems).toEqual([]);
});

it("shows a run while it goes on, refreshes it, and stops when it has ended", async () => {
  const { boss, run, window } = await open();
  const id = await run("payment");
  const { show, calls, toDark, page } = await window();
  await page.clock.install();
  const view = await show({ tool: "get_run", args: { run_id: id } });
  await view.getByText("ask, approval, waiting").waitFor({ state: "attached" });
  const frame = page.frames().at(-1)!;
  await toDark();
  await expect
    .poll(() => frame.evaluate("getComputedStyle(document.body).backgroundColor"))
    .toBe("rgb(31, 32, 35)");
  // The button keeps the focus while the view changes.
  await view.getByRole("button", { name: "Open in Millrace" }).focus();
  const { body: found } = await boss("GET", `/approvals?run_id=${id}`);
  await boss("POST", `/approvals/${found[0].id}`, { decision: "decline" });
  await page.clock.fastForward("00:05");
  await view.getByRole("status").getByText("succeeded").waitFor();
  await view.getByText("pay, set, skipped").waitFor({ state: "attached" });
  expect(await frame.evaluate("document.activeElement.textContent")).toBe("Open in Millrace");
  const count = (await calls()).length;
  await page.clock.fastForward("10:00");
  // The answer to a message comes after the calls that the view would have sent before it.
  await toDark();
  await frame.evaluate("new Promise((done) => requestAnimationFrame(done))");
  expect(await calls()).toHaveLength(count);
});

it("says what is wrong when the call failed, and shows what it has when the host offers nothing", async () => {
  const { url, run, window } = await open();
  const { show, calls, links, problems } = await window();
  const failed = await show({ tool: "get_run", args: { run_id: "run_none" } });
  await failed.getByRole("alert").getByText('There is no run "run_none"').waitFor();
  const other = await show({
    tool: "get_run",
    args: {},
    result: { content: [], structuredContent: { x: 1 } },
  });
  await other.getByRole("alert").getByText("nothing that this view can show").waitFor();
  const id = await run("payment");
  const still = await show({ tool: "get_run", args: { run_id: id }, capabilities: {} });
  await still.getByRole("heading", { name: "Waits for an approval" }).waitFor();
  await still.getByRole("button", { name: "Open in Millrace" }).click();
  await still.getByText(`${url}/ui/runs/${id}`).waitFor();
  expect([await calls(), await links(), problems]).toEqual([[], [], []]);
});

it("says that it is not up to date when three updates in a row failed, and tries again on demand", async () => {
  const { window } = await open();
  const { show, calls, page } = await window();
  await page.clock.install();
  const gone = { id: "run_none", workflow_id: "payment", status: "running" };
  const view = await show({ tool: "get_run", args: {}, result: { content: [], structuredContent: gone } });
  for (const count of [1, 2, 3]) {
    await expect.poll(calls).toHaveLength(count);
    await page.clock.fastForward("00:05");
  }
  await view.getByText('Not up to date: There is no run "run_none"').waitFor();
  await view.getByRole("heading", { name: "payment" }).waitFor();
  await view.getByRole("button", { name: "Refresh" }).click();
  await expect.poll(calls).toHaveLength(4);
});
