/**
 * Debian's nginx with the shipped configuration (deploy/nginx), in front of two copies of each server: real processes on
 * one state directory.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect as http2Connect } from "node:http2";
import { describe, expect, it } from "vitest";
import { browserApi } from "../../support/browser-api.ts";
import { startDeployment } from "../../support/deployment.ts";
import { eventually } from "../../support/eventually.ts";
import { apiClient } from "../../support/http.ts";
import { openHttpsEventStream, httpsRequest } from "../../support/https.ts";
import { CLIENT_NAMES, connect, outputOf } from "../../support/mcp.ts";
import { spawnCommand } from "../../support/process.ts";
import { openBrowser, openWindow, PASSWORD, signIn } from "../../support/web.ts";

const KIB = 1024;
const padded = (value: unknown, bytes: number) => JSON.stringify(value).padEnd(bytes);
const LONG_WAIT = { steps: [{ id: "pause", type: "wait", for: "10m" }] };

describe("nginx", () => {
  it("serves the web interface over https only, and signs people in with a cookie for https", async () => {
    const { url, nginx, stateDir } = await startDeployment({ drainDelay: 0 });
    const plain = await fetch(`${nginx.plainUrl}/ui/?a=1`, { method: "POST", redirect: "manual" });
    expect(plain.status).toBe(308);
    expect(plain.headers.get("location")).toBe("https://localhost/ui/?a=1");

    // The first admin uses the link of the command; every copy accepts the session immediately.
    const { out } = await spawnCommand(["users", "setup-link"], { MILLRACE_STATE_DIR: stateDir });
    const link = /(https:\S+)\/ui\/setup#(\w{32})/.exec(out)!;
    expect(link[1]).toBe(url);
    const browser = browserApi(url);
    const spoofed = {
      "X-Forwarded-For": "192.0.2.66",
      Forwarded: "for=192.0.2.66",
      "X-Real-IP": "192.0.2.66",
    };
    const account = { token: link[2], email: "ann@example.com", password: PASSWORD };
    const made = await browser.request("POST", "/session/setup", account, spoofed);
    expect(made.status).toBe(201);
    expect(browser.setCookie).toMatch(/^__Host-.*; Secure/);
    for (let i = 0; i < 4; i += 1) {
      const { status, body } = await browser.request("GET", "/session");
      expect([status, body.session.address]).toEqual([200, "127.0.0.1"]);
      expect(body.mcp_url).toBe(url);
    }

    const { page, problems } = await openWindow(await openBrowser(), { url }, undefined, {
      ignoreHTTPSErrors: true,
    });
    const response = await page.goto(`${url}/ui/`);
    expect(response?.headers()["strict-transport-security"]).toMatch(/^max-age=\d+$/);
    await signIn(page, "ann@example.com");
    await page.getByRole("button", { name: /^User menu of / }).waitFor();
    expect(problems).toEqual([]);
  });

  it("ignores client addresses that clients claim, and gives each request one id", async () => {
    const { url, nginx, replicas } = await startDeployment({ drainDelay: 0 });
    const lineOf = (id: string) =>
      eventually(
        () =>
          replicas
            .flatMap(({ program }) => program.log().split("\n"))
            .find((line) => line.includes(`"${id}"`) && line.includes("refused")),
        `a line about ${id}`,
      );
    const spoofed = { "X-Forwarded-For": "192.0.2.66, 127.0.0.1", "X-Request-Id": "mine-1" };
    const refused = await apiClient(url)("GET", "/workflows", undefined, spoofed);
    expect([refused.status, refused.headers.get("x-request-id")]).toEqual([401, "mine-1"]);
    expect(JSON.parse(await lineOf("mine-1"))).toMatchObject({ ip: "127.0.0.1" });

    // nginx replaces an id that Millrace would refuse, and it is the same in both logs.
    const odd = await apiClient(url)("GET", "/workflows", undefined, { "X-Request-Id": "no {id}" });
    const id = odd.headers.get("x-request-id")!;
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    await lineOf(id);
    await eventually(() => nginx.accessLog().find((line) => line.request_id === id), "nginx's line");
  });

  it("forwards what comes without a login to the web servers, and logs no token of these paths", async () => {
    const { url, nginx } = await startDeployment({ drainDelay: 0 });
    const request = apiClient(url);
    // Each handler refuses what it does not know in its own way; an unknown path would be route_not_found.
    for (const [method, area, path] of [
      ["GET", "/decide/-", "/decide/very-secret-token"],
      ["POST", "/hooks/-", "/hooks/very-secret-token"],
      ["POST", "/events/-", "/events/very-secret-token"],
      ["POST", "/interactions/slack", "/interactions/slack"],
    ] as const) {
      const id = `token-${path.split("/")[1]}`;
      const answer = await request(method, path, undefined, { "X-Request-Id": id });
      expect([answer.status, answer.body?.code]).not.toContain("route_not_found");
      expect(answer.status).toBeLessThan(500);
      const line = await eventually(
        () => nginx.accessLog().find((one) => one.request_id === id),
        `line ${id}`,
      );
      expect(line).toMatchObject({ path: area, copy: expect.stringMatching(/:\d+$/) });
    }
    expect(JSON.stringify(nginx.accessLog())).not.toContain("very-secret");
  });

  it("forwards bodies and headers up to Millrace's limits, whose messages refuse larger ones", async () => {
    const { url, key } = await startDeployment({ drainDelay: 0 });
    const call = apiClient(url, key);
    const workflow = { name: "Large", description: "" };
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const accept = { Accept: "application/json, text/event-stream" };
    expect((await call("POST", "/workflows", padded(workflow, 1024 * KIB))).status).toBe(201);
    expect((await call("POST", "/mcp", padded(list, 1024 * KIB), accept)).status).toBe(200);
    // The first from Millrace, the others from nginx.
    for (const bytes of [1024 * KIB + 1, 1200 * KIB, 20_000 * KIB]) {
      for (const path of ["/workflows", "/mcp"]) {
        const { status, headers, body } = await call("POST", path, padded(list, bytes), accept);
        expect([status, headers.get("content-type"), body.code]).toEqual([
          413,
          "application/problem+json",
          "payload_too_large",
        ]);
        expect(body.request_id).toBe(headers.get("x-request-id"));
      }
    }

    for (const [kib, expected, code] of [
      [60, 200, undefined],
      [70, 431, "headers_too_large"],
      [300, 431, "headers_too_large"],
    ] as const) {
      const headers: Record<string, string> = { "X-API-Key": key };
      for (let left = kib; left > 0; left -= 30)
        headers[`X-Pad-${left}`] = "x".repeat(Math.min(left, 30) * KIB);
      const { status, text } = await httpsRequest("GET", `${url}/workflows`, { headers });
      expect([status, JSON.parse(text).code]).toEqual([expected, code]);
    }
  });

  it("serves no metrics, supports HTTP/2, and reports healthy if any copy is", async () => {
    const { url } = await startDeployment({ drainDelay: 0 });
    for (const path of ["/metrics", "/metrics/", "/-/probe-web", "/-/probe-mcp"])
      expect((await fetch(url + path)).status).toBe(404);
    const session = http2Connect(url);
    const stream = session.request({ ":path": "/health" });
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(headers[":status"]).toBe(200);
    session.destroy();
  });

  it.each(CLIENT_NAMES)("serves MCP to %s over any copy", async (name) => {
    const { url, nginx, key } = await startDeployment({ drainDelay: 0 });
    const client = await connect(name, url, key);
    expect((await client.listTools()).map((tool) => tool.name)).toContain("create_workflow");
    for (let i = 0; i < 12; i += 1)
      outputOf(await client.call("create_workflow", { name: `By ${name} ${i}`, description: "" }));
    const listed = outputOf(await client.call("list_workflows", { limit: 100 }));
    expect(listed.total).toBe(12);
    await client.close();
    const posts = nginx.accessLog().filter(({ method }) => method === "POST");
    expect(new Set(posts.map(({ copy }) => copy)).size).toBe(2);
  });

  it("forwards the events of a run without delay", async () => {
    const { url, key } = await startDeployment({ drainDelay: 0 });
    const call = apiClient(url, key);
    const { body: made } = await call("POST", "/workflows", {
      name: "Pause",
      description: "",
      definition: LONG_WAIT,
    });
    const { status, body: run } = await call("POST", `/workflows/${made.id}/runs`, {});
    expect(status).toBe(202);
    const events = await openHttpsEventStream(`${url}/runs/${run.id}/events`, { "X-API-Key": key });
    await events.until(/event: step\ndata: \{"id":"pause"[^\n]*"status":"waiting"/);
    expect(events.ended()).toBe(false);
    expect((await call("POST", `/runs/${run.id}/cancel`, {})).status).toBe(200);
    await events.until(/event: end\n/);
  });

  it.each([
    ["headers", ["-H"]],
    ["bodies", ["-B", "-f", "application/json"]],
  ] as const)("keeps 1,000 clients that are slow with their %s away from the copies", async (_kind, kind) => {
    const { url, key } = await startDeployment({ drainDelay: 0 });
    const call = apiClient(url, key);
    const slow = ["-c", "1000", "-r", "400", "-i", "2", "-l", "8", "-p", "3", "-u", `${url}/workflows`];
    const tool = spawn("slowhttptest", [...kind, ...slow]);
    let report = "";
    tool.stdout.setEncoding("utf8").on("data", (chunk: string) => (report += chunk));
    const exited = once(tool, "exit");
    let answered = 0;
    for (; tool.exitCode === null; answered += 1) expect((await call("GET", "/workflows")).status).toBe(200);
    await exited;
    // oxlint-disable-next-line no-control-regex
    expect(report.replaceAll(/\u001b\[[0-9;]*m/g, "")).toMatch(/connected: +[1-9]\d{2}/);
    expect(answered).toBeGreaterThan(50);
  });

  it("continues when a copy of each is killed, and reports when there is none", async () => {
    const { url, key, replicas } = await startDeployment();
    const call = apiClient(url, key);
    const mcp = await connect("v2 pinned to 2026-07-28", url, key);
    await Promise.all([replicas[0]!, replicas[2]!].map(({ program }) => program.stop("SIGKILL")));
    for (let i = 0; i < 20; i += 1) {
      expect((await call("GET", "/workflows")).status).toBe(200);
      expect((await call("POST", "/workflows", { name: `After ${i}`, description: "" })).status).toBe(201);
      outputOf(await mcp.call("list_workflows"));
    }
    await Promise.all([replicas[1]!, replicas[3]!].map(({ program }) => program.stop("SIGKILL")));
    const { status, headers, body } = await call("POST", "/workflows", { name: "None", description: "" });
    expect([status, headers.get("content-type"), body.code]).toEqual([
      502,
      "application/problem+json",
      "connection_failed",
    ]);
    expect(headers.get("retry-after")).toBe("5");
  });
});
