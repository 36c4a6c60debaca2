import { spawnSync } from "node:child_process";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { connect } from "../../support/mcp.ts";
import { startProgram } from "../../support/process.ts";
import { freePorts } from "../../support/nginx.ts";
import {
  createFirstAdmin,
  heading,
  openBrowser,
  openSeededSite,
  openSite,
  openWindow,
  takeScreenshot,
} from "../../support/web.ts";

const violations = async (page: Page): Promise<string[]> =>
  (await new AxeBuilder({ page }).analyze()).violations.map(({ id, help }) => `${id}: ${help}`);

it("An agent is connected: a key, a client's link or configuration, and its first request is noticed", async () => {
  const { site, ben } = await openSeededSite();
  const mcp = await startProgram("mcp-sse", site.stateDir);
  const browser = await openBrowser();
  const { page, visit, problems } = await openWindow(browser, site, ben);
  await visit("/connect");
  await heading(page, "Connect an agent").waitFor();
  const byUrl = page.getByRole("region", { name: "By URL alone" });
  expect(await byUrl.locator("pre").innerText()).toBe("http://127.0.0.1:8000/mcp");
  await byUrl.getByText("ChatGPT and other hosted clients can’t reach this address").waitFor();
  // What can work here comes first.
  const headings = await page.getByRole("heading", { level: 2 }).allInnerTexts();
  expect([headings[0], headings.at(-1)]).toEqual(["1. Create an API key", "By URL alone"]);
  await page.getByRole("button", { name: "Create API key" }).click();
  await page.getByLabel("Name").fill("my agent");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("The snippets below contain the new key.").waitFor();
  const [, key] = /X-API-Key: (mill_\w+)/.exec(
    await page.locator("pre", { hasText: "X-API-Key" }).first().innerText(),
  )!;

  const choose = async (client: string): Promise<void> => {
    await page.getByRole("combobox", { name: "Client" }).click();
    await page.getByRole("option", { name: client, exact: true }).click();
  };
  await choose("Cursor");
  const cursor = new URL((await page.getByRole("link", { name: "Add to Cursor" }).getAttribute("href"))!);
  expect(cursor.protocol).toBe("cursor:");
  expect(JSON.parse(atob(cursor.searchParams.get("config")!))).toEqual({
    url: expect.stringMatching(/:8000\/mcp$/) as string,
    headers: { "X-API-Key": key },
  });
  await choose("VS Code");
  const vscode = (await page.getByRole("link", { name: "Add to VS Code" }).getAttribute("href"))!;
  const installed = JSON.parse(decodeURIComponent(vscode.replace("vscode:mcp/install?", ""))) as object;
  expect(installed).toMatchObject({ name: "millrace", type: "http", inputs: [{ password: true }] });
  expect(JSON.stringify(installed)).not.toContain(key);
  await choose("Claude Desktop");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download bundle" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("millrace.mcpb");
  const tested = spawnSync("unzip", ["-t", await download.path()], { encoding: "utf8" });
  expect(tested.stdout).toContain("No errors detected");
  for (const client of [
    "Gemini CLI",
    "GitHub Copilot CLI",
    "Windsurf",
    "JetBrains IDEs",
    "Zed",
    "opencode",
  ]) {
    await choose(client);
    await page.getByText(key!).first().waitFor();
  }
  await takeScreenshot(page, "connect-1280");

  await page.getByText("Waiting for the first request with the new key.").waitFor();
  await (await connect("v2 pinned to 2026-07-28", mcp.url, key!)).listTools();
  await page.getByText("The first request with the key came").waitFor();
  await takeScreenshot(page, "connected-1280");

  const narrow = await openWindow(browser, site, ben, { viewport: { width: 400, height: 800 } });
  await narrow.visit("/connect");
  const width = await narrow.page.evaluate<number>("document.documentElement.scrollWidth");
  expect(width).toBeLessThanOrEqual(400);
  expect(problems).toEqual([]);
});

it("Connect an agent says that no server answers at the MCP URL, and asks again on request", async () => {
  const [port] = (await freePorts(1)) as [number];
  const site = await openSite({ env: { MILLRACE_MCP_URL: `http://127.0.0.1:${port}/mcp` } });
  const ann = await createFirstAdmin(site);
  const { page, visit, problems } = await openWindow(await openBrowser(), site, ann);
  await visit("/connect");
  const check = page.getByRole("status", { name: "Check of the MCP URL" });
  await check.getByText("This URL could not be checked").waitFor();
  expect(await check.innerText()).toContain(`http://127.0.0.1:${port} can't be reached`);
  expect(await violations(page)).toEqual([]);
  await takeScreenshot(page, "connect-unreachable-1280");
  await startProgram("mcp-sse", site.stateDir, { args: ["--port", String(port)] });
  // A result is shared for some seconds.
  await eventually(async () => {
    await check.getByRole("button", { name: "Check again" }).click();
    await check.getByRole("button", { name: "Check again" }).waitFor();
    return (await check.innerText()).includes("The MCP server can be reached") ? true : undefined;
  }, "a check that finds the server");
  await takeScreenshot(page, "connect-reachable-1280");
  expect(problems).toEqual([]);
});
