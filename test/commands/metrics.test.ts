import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { eventually } from "../support/eventually.ts";
import { type MetricFamily, parseExposition, sumSamples } from "../support/exposition.ts";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { connect } from "../support/mcp.ts";
import { mockModelServer, WIRE_FORMATS } from "../support/mock-model-server.ts";
import { childrenOf, type Program, runCommand, startProgram } from "../support/process.ts";

const AT = /metrics available at (http:\/\/[^"]+)/;

/** Returns the URL of a program's metrics. */
const pageOf = ({ log }: Program): string => AT.exec(log())![1]!;

async function scrape(url: string): Promise<Map<string, MetricFamily>> {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return parseExposition(await answer.text());
}

/** Scrapes until a condition holds, because the numbers of executors come with their next commit. */
const scraped = (url: string, holds: (families: Map<string, MetricFamily>) => boolean, what: string) =>
  eventually(async () => {
    const families = await scrape(url);
    return holds(families) ? families : undefined;
  }, what);

/** A state directory with a key, and a configuration with a model. */
async function setUp() {
  const instance = await testInstance();
  const { value: key } = await instance.key();
  const peer = await mockModelServer("openai-compatible", { text: "Hello." });
  const models = [
    {
      name: "writer",
      vendor: "openai-compatible",
      model_ref: "m-1",
      base_url: peer.url + WIRE_FORMATS["openai-compatible"].base,
    },
  ];
  writeFileSync(join(instance.stateDir, "config.yaml"), stringify({ models }));
  return { key, stateDir: instance.stateDir };
}

const statusOf = async (url: string, method = "GET") => (await fetch(url, { method })).status;

/** Returns a port that is in use. */
async function takenPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return String((server.address() as AddressInfo).port);
}

const ASK = { steps: [{ id: "ask", type: "model", model: "writer", prompt: "Hi" }] };
const FAIL = { steps: [{ id: "no", type: "assert", that: "1 > 2", message: "No." }] };
const WAIT = { steps: [{ id: "later", type: "wait", for: "1h" }] };

describe("metrics of serve", () => {
  it("count requests, runs and steps, and survive the end of an executor", async () => {
    const { key, stateDir } = await setUp();
    const program = await startProgram("serve", stateDir, { args: ["--metrics-port", "0"] });
    const page = pageOf(program);
    const call = apiClient(program.url, key);
    const define = async (name: string, definition: unknown): Promise<string> =>
      (await call("POST", "/workflows", { name, description: "", definition })).body.id;
    const [ask, fail, wait] = [
      await define("Ask", ASK),
      await define("Fail", FAIL),
      await define("Wait", WAIT),
    ];
    for (const id of [ask, fail]) await call("POST", `/workflows/${id}/runs`, { wait: 20 });
    await call("POST", `/workflows/${wait}/runs`, {});
    await call("GET", "/workflows/none");
    await apiClient(program.url, "mill_wrong")("GET", "/workflows");

    const before = await scraped(
      page,
      (one) => sumSamples(one, "millrace_model_tokens_total") > 0,
      "a model's tokens",
    );
    const of = (name: string, labels: Record<string, string> = {}, families = before) =>
      sumSamples(families, `millrace_${name}`, labels);
    expect(of("requests_total", { operation: "create_workflow", surface: "rest", status: "201" })).toBe(3);
    expect(of("requests_total", { operation: "get_workflow", surface: "rest", status: "404" })).toBe(1);
    expect(of("requests_total", { operation: "run_workflow", surface: "rest", status: "200" })).toBe(2);
    expect(of("request_duration_seconds_count", { operation: "run_workflow" })).toBe(3);
    expect(of("requests_refused_total", { surface: "rest", code: "unauthorized" })).toBe(1);
    expect(of("runs_started_total", { trigger: "rest", process: "serve" })).toBe(3);
    expect(of("runs_finished_total", { status: "succeeded", process: "worker" })).toBe(1);
    expect(of("runs_finished_total", { status: "failed" })).toBe(1);
    expect(of("run_failures_total", { code: "assert_failed" })).toBe(1);
    expect(of("step_attempts_total", { type: "model", outcome: "succeeded" })).toBe(1);
    expect(of("step_failures_total", { type: "assert", code: "assert_failed" })).toBe(1);
    expect(of("step_duration_seconds_count", { type: "model" })).toBe(1);
    expect(of("connection_calls_total", { kind: "model", name: "writer", outcome: "ok" })).toBe(1);
    expect(of("model_tokens_total", { model: "writer", direction: "input" })).toBe(100);
    expect(of("model_tokens_total", { model: "writer", direction: "output" })).toBe(20);
    expect(of("state_duration_seconds_count", { access: "write", process: "worker" })).toBeGreaterThan(0);
    expect(of("state_up")).toBe(1);
    expect(of("executors")).toBe(1);
    expect(of("jobs_claimed_total", { kind: "step" })).toBeGreaterThanOrEqual(3);

    const [executor] = childrenOf(program.child);
    process.kill(executor!, "SIGKILL");
    const after = await scraped(
      page,
      (one) =>
        sumSamples(one, "millrace_executor_takeovers_total", { cause: "exit" }) === 1 &&
        sumSamples(one, "process_resident_memory_bytes", { process: "worker" }) > 0,
      "another executor",
    );
    expect(of("executor_restarts_total", {}, after)).toBe(1);
    // The counts of the dead executor remain, because a falling counter would look like a restart of everything.
    expect(of("model_tokens_total", {}, after)).toBe(120);
    await call("POST", `/workflows/${ask}/runs`, { wait: 20 });
    await scraped(
      page,
      (one) => sumSamples(one, "millrace_model_tokens_total") === 240,
      "the new executor's tokens",
    );
  });

  it("are served only on that port, under /metrics, and only for GET", async () => {
    const { stateDir } = await setUp();
    const args = ["--workers", "0"];
    const program = await startProgram("serve", stateDir, { args, env: { MILLRACE_METRICS_PORT: "0" } });
    const page = pageOf(program);
    expect(await statusOf(page)).toBe(200);
    expect(await statusOf(page, "HEAD")).toBe(200);
    expect(await statusOf(new URL("/", page).href)).toBe(404);
    const posted = await fetch(page, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await posted.json()).toMatchObject({ code: "method_not_allowed" });
    expect(await statusOf(new URL("/metrics", program.url).href)).toBe(404);
    expect((await program.stop()).code).toBe(0);
  });

  it("do not exist without a metrics port", async () => {
    const { stateDir } = await setUp();
    const program = await startProgram("serve", stateDir, { args: ["--workers", "0"] });
    expect(program.log()).not.toMatch(AT);
  });
});

describe("metrics of mcp-sse", () => {
  it("count tool calls, open streams and refused requests", async () => {
    const { key, stateDir } = await setUp();
    const args = ["--workers", "0", "--metrics-port", "0"];
    const program = await startProgram("mcp-sse", stateDir, { args });
    const client = await connect("v1 over SSE", program.url, key);
    await client.call("list_workflows");
    await client.call("get_workflow", { workflow_id: "none" });
    await fetch(`${program.url}/mcp`, { method: "POST" });
    const families = await scrape(pageOf(program));
    const of = (name: string, labels: Record<string, string>) =>
      sumSamples(families, `millrace_${name}`, labels);
    expect(of("requests_total", { operation: "list_workflows", surface: "mcp", status: "200" })).toBe(1);
    expect(of("requests_total", { operation: "get_workflow", surface: "mcp", status: "404" })).toBe(1);
    expect(of("requests_refused_total", { surface: "mcp", code: "unauthorized" })).toBe(1);
    expect(of("open_streams", { kind: "sse" })).toBe(1);
    await client.close();
    await scraped(
      pageOf(program),
      (one) => sumSamples(one, "millrace_open_streams") === 0,
      "the stream's end",
    );
  });
});

describe("a metrics port", () => {
  it.each([
    ["serve", ["--port", "0"]],
    ["worker", []],
  ])(
    "that is in use ends %s with exit code 5 and names the option for another port",
    async (command, args) => {
      const { stateDir } = await setUp();
      const port = await takenPort();
      const ended = await runCommand([command, ...args, "--metrics-port", port], {
        MILLRACE_STATE_DIR: stateDir,
      });
      expect(ended.code).toBe(5);
      expect(ended.err).toContain(`Port ${port} is already in use. Choose another with --metrics-port`);
    },
    30_000,
  );

  it("refuses an invalid port and says why", async () => {
    const { stateDir } = await setUp();
    const env = { MILLRACE_STATE_DIR: stateDir, MILLRACE_METRICS_PORT: "x" };
    const ended = await runCommand(["serve", "--port", "0"], env);
    expect(ended).toMatchObject({
      code: 3,
      err: expect.stringContaining("MILLRACE_METRICS_PORT must be a port"),
    });
    const last = await runCommand(["start", "--metrics-port", "65535"], { MILLRACE_STATE_DIR: stateDir });
    expect(last).toMatchObject({ code: 2, err: expect.stringContaining("mcp-sse uses the next port") });
  });
});
