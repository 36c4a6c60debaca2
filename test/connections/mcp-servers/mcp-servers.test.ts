import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { Config } from "../../../schemas/config.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { createMcpServers } from "../../../src/connections/mcp-servers/index.ts";
import { eventually } from "../../support/eventually.ts";
import { mcpHttpServer } from "../../support/mcp-server-http.ts";
import { callOf } from "../../support/call-context.ts";

const HERE = new URL("../../support/", import.meta.url).pathname;
const STDIO = { command: process.execPath, args: [`${HERE}mcp-server-stdio.ts`] };
const MODERN = { command: process.execPath, args: [`${HERE}mcp-server-stdio-v2.ts`] };
const never = new AbortController().signal;

function servers(entry: object, env: Record<string, string> = {}, options = {}) {
  const config = Config.parse({ mcp_servers: [{ name: "peer", ...entry }] });
  const all = createMcpServers(config, fixedSecrets(env), { now: Date.now, ...options });
  onTestFinished(() => all.close());
  const call = (tool: string, args = {}, signal = never): Promise<unknown> =>
    all.call("peer", tool, args, { idempotencyKey: "run:step:0:abc" }, callOf(signal));
  return { all, call };
}

const failure = (promise: Promise<unknown>): Promise<StepError> =>
  promise.then(
    (value) => Promise.reject(new Error(`The call returned ${JSON.stringify(value)?.slice(0, 100)}`)),
    (error: unknown) => {
      expect(error).toBeInstanceOf(StepError);
      return error as StepError;
    },
  );

const NUMBERS: readonly [written: string, value: unknown][] = [
  ["9007199254740993", "9007199254740993"],
  ["900719925474099.23", "900719925474099.23"],
  ["1e400", `1${"0".repeat(400)}`],
  ["1.50", 1.5],
];

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("an MCP server over stdio", () => {
  test("returns structured content, or else text with a line for each other content", async () => {
    const { call } = servers(STDIO);
    expect(await call("add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(await call("say", { text: "hello" })).toBe("hello\n[image, image/png, 3 bytes]");
  });

  test("returns every declared field", async () => {
    const { call } = servers(STDIO);
    expect(await call("find")).toEqual({ name: null, id: null });
    expect(await call("find", { id: Number.MAX_SAFE_INTEGER })).toEqual({
      name: null,
      id: Number.MAX_SAFE_INTEGER,
    });
    expect(await call("find", { id: 6.02e23 })).toEqual({ name: null, id: 6.02e23 });
  });

  test("returns numbers that a double can't hold with all digits, or says that one is too long", async () => {
    const { call } = servers(STDIO);
    for (const [digits, n] of NUMBERS) expect(await call("write_number", { digits })).toEqual({ n });
    expect(await failure(call("write_number", { digits: "1e4000" }))).toMatchObject({
      code: "tool_failed",
      message: expect.stringContaining("The number at result.structuredContent.n has more than 1000 digits."),
    });
  });

  test("refuses a result that the defaults of its schema make much larger", async () => {
    const { call } = servers(STDIO);
    expect(await call("fill", { rows: 1 })).toEqual({ rows: [{ text: "x".repeat(1_000) }] });
    expect(await failure(call("fill", { rows: 5_000 }))).toMatchObject({
      code: "output_too_large",
      message: expect.stringContaining(
        "more than 4194304 characters of JSON with the defaults of its schema",
      ),
      options: { transient: false },
    });
  });

  test("leaves room for the calls of another owner while those of one hang", async () => {
    const { call, all } = servers(STDIO);
    await call("pid");
    const attack = new AbortController();
    const hanging = Array.from({ length: 30 }, () =>
      all
        .call("peer", "hang", {}, { idempotencyKey: "1" }, callOf(attack.signal, "mallory"))
        .catch((error: unknown) => error),
    );
    expect(await call("say", { text: "hello" })).toContain("hello");
    attack.abort(new StepError("cancelled", "The run was cancelled."));
    expect(new Set((await Promise.all(hanging)).map((error) => (error as StepError).code))).toEqual(
      new Set(["cancelled"]),
    );
  });

  test("lists its tools", async () => {
    const { all } = servers(STDIO);
    const tools = await all.tools("peer", callOf(never));
    expect(tools.find(({ name }) => name === "add")).toMatchObject({
      description: "Adds.",
      readOnly: true,
      inputSchema: { required: ["a", "b"] },
      outputSchema: { required: ["sum"] },
    });
    expect(tools.find(({ name }) => name === "say")).toMatchObject({ readOnly: false, outputSchema: null });
  });

  test("gets the configured environment variables and no others", async () => {
    process.env["MILLRACE_TEST_SECRET"] = "mine";
    onTestFinished(() => void delete process.env["MILLRACE_TEST_SECRET"]);
    const entry = { ...STDIO, key_var: "PEER_KEY", env: { PEER_TOKEN: "OUR_TOKEN" } };
    const { call } = servers(entry, { PEER_KEY: "k", OUR_TOKEN: "t", OTHER: "o" });
    const names = JSON.parse(String(await call("environment"))) as string[];
    expect(names).toEqual(expect.arrayContaining(["PEER_KEY", "PEER_TOKEN", "PATH"]));
    const allowed = new Set(["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "PEER_KEY", "PEER_TOKEN"]);
    expect(names.filter((name) => !allowed.has(name))).toEqual([]);
  });

  test("gets the idempotency key", async () => {
    const { call } = servers(STDIO);
    expect(JSON.parse(String(await call("meta")))).toMatchObject({
      "millrace/idempotency_key": "run:step:0:abc",
    });
  });

  test("fails with the error message of the tool", async () => {
    const { call } = servers(STDIO);
    const error = await failure(call("refuse"));
    expect(error).toMatchObject({ code: "tool_failed", message: "peer: refuse failed: out of stock" });
  });

  test("has its secrets masked in results and in errors", async () => {
    const entry = { ...STDIO, key_var: "PEER_KEY", env: { PEER_TOKEN: "OUR_TOKEN" } };
    const { call } = servers(entry, { PEER_KEY: "s3cret-key", OUR_TOKEN: "s3cret-token" });
    const both = `s3cret-key, ${Buffer.from("s3cret-token").toString("base64")}`;
    expect(await call("say", { text: both })).toMatch(/^\*\*\*, \*\*\*/);
    const error = await failure(call("refuse", { text: `${"x".repeat(1_995)}s3cret-token` }));
    expect(error).toMatchObject({ code: "tool_failed" });
    expect(error.message).toMatch(/x\*\*\*$/);
  });

  test("fails with the nearest name if a tool does not exist", async () => {
    const { call } = servers(STDIO);
    const error = await failure(call("ad"));
    expect(error).toMatchObject({ code: "tool_failed", transient: false, options: { fix: "Write add." } });
  });

  test("is shared by simultaneous calls, and restarted after it crashes", async () => {
    const { call } = servers(STDIO);
    const [first, second] = await Promise.all([call("pid"), call("pid")]);
    expect(second).toBe(first);
    const error = await failure(call("die"));
    expect(error).toMatchObject({ code: "tool_unavailable", transient: true });
    expect(await call("pid")).not.toBe(first);
  });

  test("keeps running when a call is aborted", async () => {
    const { call } = servers(STDIO);
    const pid = await call("pid");
    const stop = new AbortController();
    const hanging = failure(call("hang", {}, stop.signal));
    stop.abort(new StepError("timeout", "The step took longer than 1s."));
    expect(await hanging).toMatchObject({ code: "timeout" });
    expect(await call("pid")).toBe(pid);
  });

  test("may not answer with more than 4 MiB", async () => {
    const { call } = servers(STDIO);
    const error = await failure(call("big", { bytes: 10_000_000 }));
    expect(error).toMatchObject({ code: "output_too_large", transient: false });
    expect(await call("add", { a: 1, b: 1 })).toEqual({ sum: 2 });
  });

  test("gets no answer if it asks the user for input", async () => {
    const { call } = servers(STDIO);
    expect(await failure(call("ask"))).toMatchObject({ code: "tool_failed" });
  });

  test("lists its tools again after it reports a change, and before a tool is reported as missing", async () => {
    const { all, call } = servers(STDIO);
    await call("grow");
    const names = async (): Promise<string[]> =>
      (await all.tools("peer", callOf(never))).map(({ name }) => name);
    await eventually(async () => (await names()).includes("grown") || undefined, "the new list");
    const quiet = servers(STDIO);
    await quiet.call("grow_quietly");
    expect(await quiet.call("grown")).toBe("new");
  });

  test("is stopped by close, and when it is idle", async () => {
    const { all, call } = servers(STDIO);
    const pid = Number(await call("pid"));
    await all.close();
    await eventually(() => (isAlive(pid) ? undefined : true), "the child to end");
    expect(await failure(call("pid"))).toMatchObject({ code: "interrupted" });

    const idle = servers(STDIO, {}, { idleTimeoutMs: 1 });
    const other = Number(await idle.call("pid"));
    await eventually(() => (isAlive(other) ? undefined : true), "the idle child to end");
    expect(Number(await idle.call("pid"))).not.toBe(other);
  });

  test("fails with its masked error output if it exits immediately", async () => {
    const entry = { ...STDIO, args: [...STDIO.args, "broken"], env: { PEER_TOKEN: "OUR_TOKEN" } };
    const { call } = servers(entry, { OUR_TOKEN: "s3cret-token" });
    const error = await failure(call("add"));
    expect(error).toMatchObject({ code: "tool_unavailable" });
    expect(error.message).toContain("no such license: ***");
    expect(error.message).not.toContain("s3cret-token");
  });

  test("fails if its command does not exist or a variable is not set", async () => {
    expect(await failure(servers({ command: "no-such-program-here" }).call("add"))).toMatchObject({
      code: "environment",
    });
    const unset = servers({ ...STDIO, key_var: "PEER_KEY" });
    expect(unset.all.list()).toEqual([
      { name: "peer", type: "stdio", unavailableReason: "the environment variable PEER_KEY is not set" },
    ]);
    expect(await failure(unset.call("add"))).toMatchObject({ code: "environment" });
  });

  test("fails if it does not answer in time, or if the connections are closed meanwhile", async () => {
    const silent = { command: process.execPath, args: ["-e", "process.stdin.resume()"] };
    const { call } = servers(silent, {}, { connectTimeoutMs: 100 });
    const error = await failure(call("add"));
    expect(error).toMatchObject({ code: "tool_unavailable" });
    expect(error.message).toContain("did not answer in time");
    const ending = servers(silent);
    const waiting = failure(ending.call("add"));
    await ending.all.close();
    expect(await waiting).toMatchObject({ code: "interrupted" });
  });

  test("can speak only the 2026 revision of the protocol, in which its questions are declined too", async () => {
    const { call } = servers(MODERN);
    expect(await call("add", { a: 2, b: 2 })).toBe("4");
    const error = await failure(call("ask"));
    expect(error).toMatchObject({ code: "tool_failed", transient: false });
    expect(error.message).toContain("elicitation/create");
  });
});

describe("an MCP server over HTTP", () => {
  test("is called with the key, and a wrong key fails", async () => {
    const peer = await mcpHttpServer({ key: "right" });
    const { call } = servers({ url: peer.url, key_var: "PEER_KEY" }, { PEER_KEY: "right" });
    expect(await call("add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    const wrong = servers({ url: peer.url, key_var: "PEER_KEY" }, { PEER_KEY: "wrong-one" });
    const error = await failure(wrong.call("add"));
    expect(error).toMatchObject({ code: "environment", transient: false });
    expect(JSON.stringify([error.message, error.options.fix])).not.toContain("wrong-one");
  });

  test("has one shared session, which is reopened if the server lost it, and ended on close", async () => {
    const peer = await mcpHttpServer();
    const { all, call } = servers({ url: peer.url });
    await Promise.all([call("pid"), call("pid")]);
    expect(peer.openedSessionCount()).toBe(1);
    peer.dropSessions();
    expect(await call("add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(peer.openedSessionCount()).toBe(2);
    await all.close();
    expect(peer.openSessionCount()).toBe(0);
  });

  test("is unavailable if its response is cut off, and called again afterwards", async () => {
    const peer = await mcpHttpServer();
    const { call } = servers({ url: peer.url });
    expect(await failure(call("die"))).toMatchObject({ code: "tool_unavailable", transient: true });
    expect(await call("add", { a: 1, b: 2 })).toEqual({ sum: 3 });
  });

  test("may not answer with more than 4 MiB", async () => {
    const peer = await mcpHttpServer();
    const { call } = servers({ url: peer.url });
    expect(await failure(call("big", { bytes: 10_000_000 }))).toMatchObject({ code: "output_too_large" });
    expect(await call("big", { bytes: 1_000_000 })).toHaveLength(1_000_000);
  });

  test("keeps its session when a call is aborted", async () => {
    const peer = await mcpHttpServer();
    const { call } = servers({ url: peer.url });
    await call("pid");
    const stop = new AbortController();
    const hanging = failure(call("hang", {}, stop.signal));
    stop.abort(new StepError("cancelled", "The run was cancelled."));
    expect(await hanging).toMatchObject({ code: "cancelled" });
    expect(peer.openedSessionCount()).toBe(1);
  });

  test("is reached over SSE if it does not support Streamable HTTP", async () => {
    const peer = await mcpHttpServer({ leg: "sse", key: "right" });
    const { call } = servers({ url: peer.url, key_var: "PEER_KEY" }, { PEER_KEY: "right" });
    expect(await call("add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(await failure(call("big", { bytes: 10_000_000 }))).toMatchObject({ code: "output_too_large" });
  });

  test.each(["streamable", "sse"] as const)("returns numbers with all digits over %s", async (leg) => {
    const peer = await mcpHttpServer({ leg });
    const { call } = servers({ url: peer.url });
    for (const [digits, n] of NUMBERS) expect(await call("write_number", { digits })).toEqual({ n });
  });

  test("fails if it does not answer in time", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const { call } = servers({ url: `http://127.0.0.1:${port}/mcp` }, {}, { connectTimeoutMs: 100 });
    const error = await failure(call("add"));
    expect(error).toMatchObject({ code: "tool_unavailable" });
    expect(error.message).toContain("did not answer in time");
  });

  test("is unavailable if nothing listens", async () => {
    const { call } = servers({ url: "http://127.0.0.1:1/mcp" });
    expect(await failure(call("add"))).toMatchObject({ code: "tool_unavailable", transient: true });
  });
});

describe("an MCP server that is not configured", () => {
  test("fails with the nearest name", async () => {
    const { all } = servers(STDIO, {});
    const error = await failure(all.tools("pear", callOf(never)));
    expect(error).toMatchObject({ code: "environment", options: { fix: "Write peer." } });
    expect(all.concurrencyOf("pear")).toBeNull();
  });
});
