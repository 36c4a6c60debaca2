/** The views of MCP Apps over every client: linked for clients that show views, and read under the rules of their operations. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Scope } from "../../schemas/actor.ts";
import type { KeyLimits } from "../../src/core/access.ts";
import { mcpApps } from "../../src/surfaces/mcp/apps.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { CLIENT_NAMES, type ClientName, connect } from "../support/mcp.ts";

const APPROVAL = "ui://millrace/approval.html";
const RUN = "ui://millrace/run.html";
const MIME_TYPE = "text/html;profile=mcp-app";
const WITH_VIEWS = { "io.modelcontextprotocol/ui": { mimeTypes: [MIME_TYPE] } };

async function open(env: Record<string, string> = {}) {
  const instance = await testInstance();
  const { url } = await instance.rest({ env });
  const mcp = await instance.mcp({ env });
  return {
    admin: apiClient(url, (await instance.key({ scopes: ["write", "publish", "run", "admin"] })).value),
    agent: async (
      extensions: Record<string, Record<string, string[]>> | undefined = WITH_VIEWS,
      way: ClientName = "v2 pinned to 2026-07-28",
      scopes: Scope[] = ["read", "write", "publish", "run"],
      limits: KeyLimits | null = null,
    ) => {
      const { value } = await instance.key({ name: "agent", scopes, limits });
      return connect(way, mcp.url, value, undefined, { extensions });
    },
  };
}

type Client = Awaited<ReturnType<Awaited<ReturnType<typeof open>>["agent"]>>;

const linksOf = async (client: Client): Promise<Record<string, unknown>> =>
  Object.fromEntries(
    (await client.listTools()).flatMap(({ name, _meta: meta }) => (meta === undefined ? [] : [[name, meta]])),
  );

const viewsOf = async (client: Client): Promise<string[]> =>
  (await client.listResources()).resources.map(({ uri }) => uri).filter((uri) => uri.startsWith("ui:"));

const address = () => Promise.resolve("https://example.com");

const linkTo = (resourceUri: string) => ({ ui: { resourceUri } });

describe("the views of MCP Apps", () => {
  it.each(CLIENT_NAMES)("are linked, listed and read for clients that show views: %s", async (way) => {
    const { agent, admin } = await open({ MILLRACE_BASE_URL: "https://example.com/mill?a&b" });
    await admin("POST", "/workflows", {
      name: "Greet",
      definition: { expose_as_tool: true, steps: [{ id: "said", type: "set", values: { text: "Hello" } }] },
    });
    await admin("POST", "/workflows/greet/publish", {});
    const { body: exposure } = await admin("GET", "/workflows/greet/exposure");
    await admin("POST", "/workflows/greet/exposure/allow", { digest: exposure.digest });
    const client = await agent(WITH_VIEWS, way);
    expect(await linksOf(client)).toEqual({
      get_run: linkTo(RUN),
      list_approvals: linkTo(APPROVAL),
      retry_run: linkTo(RUN),
      run_greet: linkTo(RUN),
      run_workflow: linkTo(RUN),
    });
    const { resources } = await client.listResources();
    expect(resources.slice(0, 2)).toMatchObject([
      { uri: APPROVAL, name: "approval-view", mimeType: MIME_TYPE, _meta: { ui: { prefersBorder: true } } },
      { uri: RUN, name: "run-view", mimeType: MIME_TYPE },
    ]);
    for (const uri of [APPROVAL, RUN]) {
      const [page, ...others] = await client.readResource(uri);
      expect(others).toEqual([]);
      expect(page).toMatchObject({ uri, mimeType: MIME_TYPE, _meta: { ui: { prefersBorder: true } } });
      expect(page!.text).toMatch(/^<!doctype html>/);
      expect(page!.text).toContain('<meta name="web-address" content="https://example.com/mill">');
      // One file, which loads nothing.
      expect(page!.text).not.toMatch(/ src=|<link|@import|url\(/);
      expect(page!.text.length).toBeLessThan(100_000);
    }
    await client.close();
  });

  it.each(CLIENT_NAMES)("cost other clients nothing: %s", async (way) => {
    const { agent } = await open();
    for (const extensions of [{}, { "io.modelcontextprotocol/ui": { mimeTypes: ["text/uri-list"] } }]) {
      const client = await agent(extensions, way);
      expect(await linksOf(client)).toEqual({});
      expect(await viewsOf(client)).toEqual([]);
      await client.close();
    }
  });

  it("are refused to keys that may not use the operation whose results they show, and unknown ones to all", async () => {
    const { agent } = await open();
    const limited = await agent(WITH_VIEWS, undefined, ["read"], { tools: ["get_run"] });
    expect(await linksOf(limited)).toEqual({ get_run: linkTo(RUN) });
    expect(await viewsOf(limited)).toEqual([RUN]);
    expect(await limited.readResource(RUN)).toHaveLength(1);
    await expect(limited.readResource(APPROVAL)).rejects.toThrow("This key is limited to");
    for (const uri of [
      "ui://millrace/",
      "ui://millrace/run.html?x=1",
      "ui://millrace/../run.html",
      "ui://other/run.html",
    ])
      await expect(limited.readResource(uri)).rejects.toThrow(`There is no resource "${uri}"`);
  });

  it("are not offered by a server whose pages are not built (mcpApps)", () => {
    const directory = temporaryDirectory();
    expect(mcpApps(join(directory, "none"), address)).toBeUndefined();
    mkdirSync(join(directory, "part"));
    writeFileSync(join(directory, "part", "run.html"), "<!doctype html>");
    expect(mcpApps(join(directory, "part"), address)).toBeUndefined();
  });

  it("name the web interface without leaving the attribute (mcpApps)", async () => {
    const directory = temporaryDirectory();
    for (const name of ["approval", "run"])
      writeFileSync(join(directory, `${name}.html`), '<meta name="web-address" content="__WEB_ADDRESS__">');
    const apps = mcpApps(directory, () => Promise.resolve('https://example.com/"><script>'))!;
    const operations = { authorise: () => {} } as unknown as Parameters<typeof apps.read>[0];
    const { contents } = (await apps.read(operations, RUN))!;
    expect(contents[0]).toMatchObject({ text: expect.not.stringContaining("<script>") as string });
  });
});
