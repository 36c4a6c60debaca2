import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { authorizationUrl, listTools, register, requestToken } from "../../support/oauth.ts";
import { startProgram } from "../../support/process.ts";
import { heading, openBrowser, openSeededSite, openWindow, takeScreenshot } from "../../support/web.ts";

/** What the test uses of the page's window. */
interface BrowserWindow {
  dispatchEvent(event: Event): void;
  requestAnimationFrame(callback: () => void): void;
}

it("A person connects an application on the consent page, and ends its access in the list of applications", async () => {
  const { site, ben } = await openSeededSite();
  const mcp = await startProgram("mcp-sse", site.stateDir);
  const browser = await openBrowser();
  const { page, problems } = await openWindow(browser, site, ben);
  const answers: URL[] = [];
  const application = createServer((req, res) => {
    answers.push(new URL(req.url!, "http://127.0.0.1"));
    res.end("Connected.");
  });
  await new Promise<void>((resolve) => application.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void application.close());
  const { port } = application.address() as AddressInfo;
  const redirect_uri = `http://localhost:${port}/callback`;
  const { client_id } = await register(site.url, { client_name: "Claude", redirect_uris: [redirect_uri] });
  const resource = `${mcp.url}/mcp`;
  const { url, verifier } = authorizationUrl(site.url, { client_id, redirect_uri, resource });
  await page.goto(url);
  await heading(page, "Connect an application").waitFor();
  await page.getByRole("heading", { name: "a program on this computer" }).waitFor();
  await page.getByText("It calls itself “Claude”.").waitFor();
  expect(await page.getByRole("checkbox", { name: "read" }).isDisabled()).toBe(true);
  await page.getByRole("checkbox", { name: "publish" }).uncheck();
  await takeScreenshot(page, "authorize-1280");
  const allow = page.getByRole("button", { name: "Allow" });
  await allow.and(page.locator(":enabled")).waitFor();
  // A click that was meant for the window above it decides nothing.
  const isDisabled = await allow.evaluate(async (button) => {
    const window = globalThis as unknown as BrowserWindow;
    window.dispatchEvent(new Event("focus"));
    await new Promise<void>((resolve) => {
      window.requestAnimationFrame(() => window.requestAnimationFrame(resolve));
    });
    return (button as unknown as { disabled: boolean }).disabled;
  });
  expect(isDisabled).toBe(true);
  await allow.click();
  await page.getByText("Connected.").waitFor();
  const code = answers[0]!.searchParams.get("code")!;
  const exchange = {
    grant_type: "authorization_code",
    client_id,
    code,
    redirect_uri,
    code_verifier: verifier,
  };

  // The page of the application, which is of another site, gets its token and calls MCP itself.
  const [metadata, tokens, tools] = await page.evaluate(
    async ([web, address, form]) => {
      const server = await (await fetch(`${web}/.well-known/oauth-authorization-server`)).json();
      const exchanged = await fetch(`${web}/oauth/token`, {
        method: "POST",
        body: new URLSearchParams(form),
      });
      const got = (await exchanged.json()) as Record<string, unknown>;
      const listed = await fetch(address, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          Authorization: `Bearer ${String(got["access_token"])}`,
          "MCP-Protocol-Version": "2025-11-25",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
      });
      return [server as Record<string, unknown>, got, await listed.text()] as const;
    },
    [site.url, resource, exchange] as const,
  );
  expect([metadata["issuer"], tokens["scope"]]).toEqual([site.url, "read write run"]);
  expect(tools).toContain("create_workflow");
  expect((await requestToken(site.url, { ...exchange, code: "unknown" })).status).toBe(400);

  await page.goto(`${site.url}/ui/keys`);
  const list = page.getByRole("region", { name: "Connected applications" });
  await list.getByText("Application at localhost").waitFor();
  await takeScreenshot(page, "keys-application-1280");
  await list.getByRole("button", { name: "Revoke the access of Claude (localhost)" }).click();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await list.getByText("revoked", { exact: true }).waitFor();
  expect((await listTools(resource, String(tokens["access_token"]))).status).toBe(401);
  expect(problems).toEqual([]);
});
