import { copyFileSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { type ApiResponse, apiClient } from "../../support/http.ts";
import { temporaryDirectory } from "../../support/instance.ts";
import { spawnCommand, startProgram } from "../../support/process.ts";
import { openEventStream } from "../../support/raw-http.ts";

const tools = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "list_workflows", arguments: {} },
};

/** Both listeners as processes, with one workflow, and an open stream at the second listener. */
async function running() {
  const stateDir = join(temporaryDirectory(), "state");
  const { out } = await spawnCommand(["keys", "create", "--name", "test"], { MILLRACE_STATE_DIR: stateDir });
  const key = out.trim();
  const [serve, mcp] = await Promise.all([
    startProgram("serve", stateDir, { args: ["--workers", "0"] }),
    startProgram("mcp-sse", stateDir, { args: ["--workers", "0"] }),
  ]);
  const call = apiClient(serve.url, key);
  expect((await call("POST", "/workflows", { name: "One", description: "" })).status).toBe(201);
  const stream = await openEventStream("GET", `${mcp.url}/sse`, { headers: { "X-API-Key": key } });
  await stream.waitFor(/event: endpoint/);
  const viaMcp = () =>
    apiClient(mcp.url, key)("POST", "/mcp", tools, { Accept: "application/json, text/event-stream" });
  return { stateDir, file: join(stateDir, "millrace.db"), serve, mcp, call, viaMcp };
}

type Running = Awaited<ReturnType<typeof running>>;

/** Expects that writes fail at once. Reads may succeed for a moment, because they check the file less often. */
const refused = (ask: () => Promise<ApiResponse<{ code: string; detail: string }>>) =>
  eventually(async () => [await ask()].find(({ status }) => status !== 200), "a read that is refused");

async function expectLost({ serve, mcp, call, viaMcp }: Running, detail: RegExp): Promise<void> {
  for (const { url } of [serve, mcp]) {
    const health = await apiClient(url)("GET", "/health");
    expect(health.status).toBe(503);
    expect(health.body).toMatchObject({ status: "unavailable", detail: expect.stringMatching(detail) });
  }
  const answers = [
    await call("POST", "/workflows", { name: "Two", description: "" }),
    await call("PATCH", "/workflows/one", { description: "changed" }),
    await refused(() => call("GET", "/workflows")),
    await refused(() => call("GET", "/workflows/one")),
    await refused(viaMcp),
  ];
  for (const { status, headers, body } of answers) {
    expect({ status, code: body.code }).toEqual({ status: 503, code: "storage_unavailable" });
    expect(body.detail).toMatch(detail);
    expect(headers.get("retry-after")).toBe("30");
  }
}

const ends = async ({ serve, mcp }: Running) => [(await serve.stop()).code, (await mcp.stop()).code];

describe("a state directory that is lost under a running process", () => {
  it("fails /health and refuses writes when it is deleted", async () => {
    const both = await running();
    rmSync(both.stateDir, { recursive: true });
    await expectLost(both, /is gone from the state directory/);
    expect(await ends(both)).toEqual([0, 0]);
  });

  it("is reported when the database is replaced, and neither file is written to", async () => {
    const both = await running();
    const copy = join(temporaryDirectory(), "copy.db");
    copyFileSync(both.file, copy);
    rmSync(both.file);
    copyFileSync(copy, both.file);
    await expectLost(both, /was replaced while it was in use. Restart this process/);
    expect(await ends(both)).toEqual([0, 0]);
  });

  it("works again when it was moved away for a moment", async () => {
    const both = await running();
    renameSync(both.stateDir, `${both.stateDir}.away`);
    mkdirSync(both.stateDir);
    await expectLost(both, /is gone from the state directory/);
    rmSync(both.stateDir, { recursive: true });
    renameSync(`${both.stateDir}.away`, both.stateDir);
    expect((await both.call("PATCH", "/workflows/one", { description: "changed" })).status).toBe(200);
    expect((await both.viaMcp()).status).toBe(200);
    for (const { url } of [both.serve, both.mcp])
      expect((await apiClient(url)("GET", "/health")).status).toBe(200);
  });

  it.each([
    ["cut off", (file: string) => truncateSync(file, 0)],
    ["overwritten", (file: string) => writeFileSync(file, "x".repeat(40_000))],
  ])("answers with 503, never 500, when the database is %s in place", async (_what, damage) => {
    const both = await running();
    // The shared memory file stays, because the kernel kills processes that read a truncated mapped file.
    for (const suffix of ["", "-wal"]) damage(both.file + suffix);
    for (let i = 0; i < 5; i += 1) {
      const answers = [
        await both.call("GET", "/workflows/one"),
        await both.call("POST", "/workflows", { name: "Two", description: "" }),
        await both.viaMcp(),
      ];
      for (const { status } of answers) expect([200, 201, 401, 503]).toContain(status);
    }
    for (const { child } of [both.serve, both.mcp]) expect(child.exitCode).toBeNull();
  });
});
