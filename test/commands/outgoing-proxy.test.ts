import { join } from "node:path";
import { expect, it } from "vitest";
import { testCli } from "../support/command-line.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { outgoingProxy } from "../support/outgoing-proxy.ts";
import { runCommand } from "../support/process.ts";

const REPORT = `
name: Report
steps:
  - { id: fetch, type: http, url: "http://reports.corp.test/today" }
output: "\${{ steps.fetch.body }}"
`;

it("sends the requests of runs through the proxy, and shows its credentials nowhere", async () => {
  const target = await mockHttpServer((_request, response) => sendJson(response, { orders: 3 }));
  const proxy = await outgoingProxy({ credentials: "ada:s3cr3t-password", route: () => target.port });
  const { files, stateDir } = await testCli({ report: REPORT });
  const config = join(files({ config: "http: { allowed_hosts: [reports.corp.test] }\n" }), "config.yaml");
  const run = (url: string, ...args: string[]) =>
    runCommand(["run", "report", "--config", config, ...args], {
      MILLRACE_STATE_DIR: stateDir,
      HTTP_PROXY: url,
      MILLRACE_LOG_LEVEL: "debug",
    });
  const done = await run(proxy.url.replace("//", "//ada:s3cr3t-password@"));
  expect([done.code, JSON.parse(done.out)]).toEqual([0, { orders: 3 }]);
  expect(proxy.received).toMatchObject([{ method: "GET", target: "http://reports.corp.test/today" }]);
  const refused = await run(proxy.url.replace("//", "//ada:an0ther-password@"));
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("the outgoing proxy requires a user name and a password");
  expect(`${done.out}${done.err}${refused.out}${refused.err}`).not.toMatch(/s3cr3t|an0ther/);
  const invalid = await run("socks5://ada:s3cr3t-password@proxy");
  expect(invalid.code).toBe(3);
  expect(invalid.err).toContain("HTTP_PROXY must begin with http:// or https://");
  expect(invalid.err).not.toContain("s3cr3t");
});
