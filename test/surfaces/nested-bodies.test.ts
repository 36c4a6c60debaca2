import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { MAX_REQUEST_DEPTH } from "../../src/core/json-nesting.ts";
import { eventually } from "../support/eventually.ts";
import { apiClient, type ApiResponse } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";
import { openMcp, openSse, postMessage } from "../support/raw-mcp.ts";
import { expectProblem } from "../support/rest.ts";
import { formatRequest, socketClient } from "../support/sockets.ts";

const MIB = 1024 * 1024;
/** JSON of about a size, in bytes, that is brackets only. */
const BRACKETS: Readonly<Record<string, (bytes: number) => string>> = {
  "lists that end": (bytes) => "[".repeat(bytes / 2) + "]".repeat(bytes / 2),
  "lists that don't end": (bytes) => "[".repeat(bytes),
  objects: (bytes) => '{"a":'.repeat(bytes / 6) + "1" + "}".repeat(bytes / 6),
  "one level too many": () => "[".repeat(MAX_REQUEST_DEPTH + 1) + "]".repeat(MAX_REQUEST_DEPTH + 1),
};
const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const SECRET = "a secret of the sender";
const CONFIG = { secrets: [{ name: "hook", key_var: "TEST_HOOK", hosts: [] }] };
const ENV = { TEST_HOOK: SECRET };

const signed = (body: string): Record<string, string> => ({
  "X-Hub-Signature-256": `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`,
});

/** A server with a trigger and two runs that wait for an event, one of them signed, and the paths of their URLs. */
async function openServer(env: Record<string, string> = {}) {
  const instance = await testInstance();
  const { url } = await instance.rest({ config: CONFIG, env: { ...ENV, ...env } });
  await instance.executor({ config: CONFIG, env: ENV });
  const { value: key } = await instance.key({ scopes: ["read", "write", "run", "publish"] });
  const call = apiClient(url, key);
  const signature = { scheme: "github", secret: "hook" };
  await call("POST", "/workflows", {
    name: "Hook",
    definition: {
      triggers: [{ id: "in", type: "webhook", signature, payload: {} }],
      steps: [
        { id: "open", type: "wait", event: {} },
        { id: "signed", type: "wait", event: { signature }, needs: [] },
      ],
    },
  });
  await call("POST", "/workflows/hook/publish", { version: 1 });
  const triggers = await call("GET", "/workflows/hook/triggers");
  const { body: run } = await call("POST", "/workflows/hook/runs", {});
  const eventPath = (step: string): Promise<string> =>
    eventually(async () => {
      const { body } = await call("GET", `/runs/${run.id}?step_id=${step}`);
      const link = body.steps[0].event_url as string | undefined;
      return link === undefined ? undefined : new URL(link).pathname;
    }, `the URL of ${step}`);
  return {
    instance,
    url,
    key,
    call,
    anyone: apiClient(url),
    hook: new URL(triggers.body.items[0].url as string).pathname,
    open: await eventPath("open"),
    signed: await eventPath("signed"),
  };
}

/** Counts from now on how often a text that is only brackets is parsed. */
function countParsed(): () => number {
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  return () => parse.mock.calls.filter(([text]) => /^(?:\[{200}|(?:\{"a":){200})/.test(text)).length;
}

describe("a body of brackets", () => {
  it.each(Object.entries(BRACKETS))(
    "is refused before it is parsed, by name of the limit: %s",
    async (_, bracketsOf) => {
      const { call, anyone, hook, open, signed: signedPath } = await openServer();
      const [large, small] = [bracketsOf(MIB), bracketsOf(8 * 1024 - 8)];
      const form = `payload=${encodeURIComponent(`{"x":${large.slice(0, MIB / 4)}`)}`;
      const parsed = countParsed();
      const answers: Record<string, ApiResponse> = {
        operation: await call("POST", "/workflows/validate", large),
        session: await anyone("POST", "/session", small),
        registration: await anyone("POST", "/oauth/register", small),
        event: await anyone("POST", open, large),
        "signed event": await anyone("POST", signedPath, large, signed(large)),
        delivery: await anyone("POST", hook, large, signed(large)),
        form: await anyone("POST", hook, form, { ...signed(form), ...FORM }),
      };
      for (const answer of Object.values(answers))
        expect(expectProblem(answer, "invalid_input").detail).toContain("deeper than 200 levels");
      expect(parsed()).toBe(0);
      const { body } = await call("GET", "/workflows/hook/deliveries?limit=10");
      // One of each second is listed.
      expect(body.length).toBeGreaterThan(0);
      for (const delivery of body as unknown[])
        expect(delivery).toMatchObject({ status: "refused", code: "invalid_input" });
      expect((await anyone("POST", open, { ok: true })).status).toBe(202);
    },
  );

  it("is refused in UTF-16 and compressed too, where its bytes are others", async () => {
    const { url, key } = await openServer();
    const text = BRACKETS["lists that end"]!(MIB / 4);
    const send = async (body: Buffer, headers: Record<string, string>): Promise<string> => {
      const answer = await fetch(`${url}/workflows/validate`, {
        method: "POST",
        headers: { "X-API-Key": key, ...headers },
        body,
      });
      return ((await answer.json()) as { detail: string }).detail;
    };
    const parsed = countParsed();
    const json = { "Content-Type": "application/json" };
    for (const detail of [
      await send(Buffer.from(text, "utf16le"), { "Content-Type": "application/json; charset=utf-16le" }),
      await send(gzipSync(text), { ...json, "Content-Encoding": "gzip" }),
    ])
      expect(detail).toContain("deeper than 200 levels");
    expect(parsed()).toBe(0);
    // U+5B5B has the byte of a bracket twice in UTF-16.
    const text5b = JSON.stringify({ definition: "字\u5b5b".repeat(1_000) });
    const accepted = await send(Buffer.from(text5b, "utf16le"), {
      "Content-Type": "application/json; charset=utf-16le",
    });
    expect(accepted).toBeUndefined();
  });

  it("is refused by both transports of MCP, as a message and as JSON text in an argument", async () => {
    const { url, key } = await openMcp();
    const { messages } = await openSse(url, key);
    const large = BRACKETS["lists that end"]!(MIB);
    const parsed = countParsed();
    for (const address of [`${url}/mcp`, messages]) {
      const answer = await postMessage(address, key, large);
      expect([answer.status, answer.json().code]).toEqual([400, "invalid_input"]);
      expect(answer.json().detail).toContain("deeper than 200 levels");
    }
    const call = {
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: {
        name: "run_workflow",
        arguments: { workflow_id: "a", inputs: `{"a":${large.slice(0, 900_000)}` },
      },
    };
    const { text } = await postMessage(`${url}/mcp`, key, call);
    expect(parsed()).toBe(0);
    expect(text).toContain("inputs must not be nested deeper than 200 levels");
  });
});

describe("the memory for bodies of senders without a key", () => {
  it("is not that of callers with a key", async () => {
    const { url, call, open } = await openServer({ MILLRACE_TRUSTED_PROXIES: "127.0.0.1" });
    const clients = await Promise.all(
      Array.from({ length: 40 }, async (_, host) => {
        const client = await socketClient(url);
        client.send(
          formatRequest("POST", open, {
            "Content-Type": "application/json",
            "Content-Length": String(MIB),
            "X-Forwarded-For": `192.0.2.${host + 1}`,
          }),
        );
        return client;
      }),
    );
    await eventually(() => clients.find((client) => client.received().includes("429 ")), "a refusal");
    const large = { definition: { description: "x".repeat(900_000), steps: [] } };
    expect((await call("POST", "/workflows/validate", large)).status).toBe(200);
  });
});
