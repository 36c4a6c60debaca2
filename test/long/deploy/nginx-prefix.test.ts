/** nginx itself in front of both servers, below a path, with the locations that docs/operations.md shows. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { cookieClient } from "../../support/cookie-client.ts";
import { eventually } from "../../support/eventually.ts";
import { apiClient } from "../../support/http.ts";
import { temporaryDirectory, testInstance } from "../../support/instance.ts";
import { CLIENT_NAMES, connect, outputOf } from "../../support/mcp.ts";
import { freePorts } from "../../support/nginx.ts";
import { signInAtProvider, testOidcProvider } from "../../support/oidc-provider.ts";

const OPERATIONS = fileURLToPath(new URL("../../../docs/operations.md", import.meta.url));
const PREFIX = "/millrace";

/** The locations of the documentation, for these servers. */
function documentedLocations(web: string, mcp: string): string {
  const section = readFileSync(OPERATIONS, "utf8").split("### Below a path")[1]!;
  const [, locations] = /```nginx\n([^]*?)```/.exec(section)!;
  return locations!.replaceAll("http://127.0.0.1:3000", web).replaceAll("http://127.0.0.1:8000", mcp);
}

/** Starts nginx. @param at its port, and the URLs of both servers */
async function startPrefixed({ port, web, mcp }: { port: number; web: string; mcp: string }): Promise<void> {
  const directory = temporaryDirectory();
  const file = join(directory, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(directory, name)};`,
  );
  writeFileSync(
    file,
    `pid ${join(directory, "nginx.pid")}; error_log stderr; events {}
     http { access_log off; ${temporary.join(" ")}
       server { listen 127.0.0.1:${port}; ${documentedLocations(web, mcp)} } }`,
  );
  let log = "";
  const child = spawn("nginx", ["-p", directory, "-c", file, "-g", "daemon off;"]);
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(log);
    return fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
  }, "nginx");
}

type RestOptions = Parameters<Awaited<ReturnType<typeof testInstance>>["rest"]>[0];

/** Both servers behind nginx. @returns their public URL */
async function open({ env = {}, ...options }: RestOptions = {}) {
  const [port] = (await freePorts(1)) as [number];
  const base = `http://127.0.0.1:${port}${PREFIX}`;
  const instance = await testInstance();
  const own = {
    MILLRACE_BASE_URL: base,
    MILLRACE_MCP_URL: `${base}/mcp`,
    MILLRACE_TRUSTED_PROXIES: "127.0.0.1",
  };
  const web = await instance.rest({ ...options, env: { ...own, ...env } });
  const mcp = await instance.mcp({ env: own });
  await startPrefixed({ port, web: web.url, mcp: mcp.url });
  return { base, origin: `http://127.0.0.1:${port}`, key: (await instance.key()).value };
}

describe("behind nginx, below a path", () => {
  it.each(CLIENT_NAMES)("MCP works for the client %s", async (way) => {
    const { base, key } = await open();
    const client = await connect(way, base, key);
    expect(outputOf(await client.call("list_workflows"))).toMatchObject({ items: [], total: 0 });
    await client.close();
  });

  it("REST, webhooks, the metadata and the files of the interface are there", async () => {
    const { base, origin, key } = await open();
    const call = apiClient(base, key);
    const created = await call("POST", "/workflows", { name: "A" });
    expect(created.headers.get("location")).toBe(`${PREFIX}/workflows/a`);
    expect((await call("POST", "/hooks/unknown", {})).status).toBe(404);
    for (const path of ["/mcp", "/sse"]) {
      const metadata = await fetch(`${origin}/.well-known/oauth-protected-resource${PREFIX}${path}`);
      expect(await metadata.json()).toMatchObject({ resource: base + path, authorization_servers: [base] });
    }
    const issuer = await fetch(`${origin}/.well-known/oauth-authorization-server${PREFIX}`);
    expect(await issuer.json()).toMatchObject({ issuer: base });
    const page = await (await fetch(`${base}/ui/workflows/a`)).text();
    const files = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => origin + path!);
    expect(files.length).toBeGreaterThan(0);
    const answers = await Promise.all(files.map(async (file) => [file, (await fetch(file)).status]));
    expect(answers).toEqual(files.map((file) => [file, 200]));
  });

  it("people sign in at a provider (OIDC), and their cookies stay below the path", async () => {
    const ann = { email: "ann@example.com", email_verified: true, groups: ["millrace-admin"] };
    const peer = await testOidcProvider({ accounts: { ann } });
    const { base } = await open({ authMode: "oidc", env: peer.env });
    const browser = cookieClient();
    const callback = await signInAtProvider(
      browser,
      `${base}/login?to=%2Fui%2F`,
      "ann",
      `${base}/login/callback`,
    );
    expect(callback).toMatch(`${base}/login/callback?`);
    const entered = await browser.fetch(callback);
    expect([entered.status, entered.headers.get("location")]).toEqual([303, `${PREFIX}/ui/`]);
    expect(entered.headers.getSetCookie().filter((cookie) => !cookie.includes(`Path=${PREFIX};`))).toEqual(
      [],
    );
    const session = await browser.fetch(`${base}/session`, undefined, { "Sec-Fetch-Site": "same-origin" });
    expect(await session.json()).toMatchObject({ mode: "oidc", user: { email: "ann@example.com" } });
  });
});
