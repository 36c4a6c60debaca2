import { describe, expect, it } from "vitest";
import type { Json } from "../support/json.ts";
import { modernRequest, openMcp, openSession, openSse, postMessage } from "../support/raw-mcp.ts";

const GUIDE = "millrace://guide/definition";
const COMPLETION = {
  ref: { type: "ref/prompt", name: "debug_run" },
  argument: { name: "run_id", value: "" },
};

/** Requests with params of their own; `modern` where the revision 2026-07-28 has `_meta` in them. */
const LEFT_OUT = [
  { method: "tools/call", params: { name: "list_workflows", arguments: null } },
  { method: "tools/call", params: { name: "list_workflows", task: null } },
  { method: "tools/list", params: { cursor: null } },
  { method: "resources/list", params: { cursor: null } },
  { method: "completion/complete", params: { ...COMPLETION, context: null } },
];
const LEFT_OUT_BEFORE_2026 = [
  { method: "tools/list", params: null },
  { method: "prompts/list", params: null },
  { method: "ping", params: null },
  { method: "tools/call", params: { name: "list_workflows", _meta: null } },
  { method: "tools/call", params: { name: "list_workflows", _meta: { progressToken: null } } },
  { method: "resources/read", params: { uri: GUIDE, _meta: null } },
];
const REFUSED: [method: string, params: unknown, message: string][] = [
  ["tools/call", { name: null }, "params.name is required."],
  ["tools/call", { name: 1 }, "params.name must be text, got a number."],
  ["tools/call", { name: "get_run", arguments: [] }, "params.arguments must be an object, got a list."],
  ["tools/call", { name: "get_run", arguments: "{}" }, "params.arguments must be an object, got text."],
  ["prompts/get", { name: "debug_run", arguments: { run_id: 1 } }, "params.arguments.run_id must be text"],
  ["prompts/get", { name: "debug_run", arguments: null }, 'needs the argument "run_id"'],
  ["prompts/get", { name: "debug_run", arguments: { run_id: null } }, 'needs the argument "run_id"'],
  ["resources/read", { uri: null }, "params.uri is required."],
  ["tools/list", { cursor: 1 }, "params.cursor must be text, got a number."],
  ["completion/complete", { ...COMPLETION, argument: null }, "params.argument is required."],
];
const REFUSED_WHOLE: typeof REFUSED = [
  ["tools/call", null, "params is required."],
  ["tools/call", [], "params must be an object, got a list."],
  ["resources/read", null, "params is required."],
  ["ping", "x", "params must be an object, got text."],
];
const ADVICE = /Send params of \S+ such as \{|What the|The id of/;

const requestOf = (method: string, params: unknown, id = 1) => ({ jsonrpc: "2.0", id, method, params });

const refusal = (message: string) => ({
  jsonrpc: "2.0",
  error: { code: -32602, message: expect.stringContaining(message) },
});

async function answered(
  status: number,
  answer: Promise<{ status: number; json: () => Json }>,
): Promise<Json> {
  const { status: found, json } = await answer;
  expect(found).toBe(status);
  return json();
}

/** Sends requests of every transport and revision to one server. */
async function open() {
  const { url, key } = await openMcp();
  const session = await openSession(url, key);
  const { stream, messages } = await openSse(url, key);
  let sent = 1;
  return {
    withoutSession: (method: string, params: unknown) =>
      answered(200, postMessage(`${url}/mcp`, key, requestOf(method, params))),
    inSession: (method: string, params: unknown) =>
      answered(200, postMessage(`${url}/mcp`, session, requestOf(method, params))),
    modern(method: string, params: object) {
      const { headers, body } = modernRequest(key, method, params);
      return answered(200, postMessage(`${url}/mcp`, headers, body));
    },
    async overSse(method: string, params: unknown) {
      sent += 1;
      const { status } = await postMessage(messages, key, requestOf(method, params, sent));
      expect(status).toBe(202);
      const [, answer] = await stream.waitFor(new RegExp(String.raw`^data: (\{.*"id":${sent}[,}].*)$`, "m"));
      return JSON.parse(answer!);
    },
  };
}

describe("withoutNulls", () => {
  it("takes null for a member that may be left out, on every transport", async () => {
    const { inSession, withoutSession, modern, overSse } = await open();
    for (const { method, params } of [...LEFT_OUT, ...LEFT_OUT_BEFORE_2026])
      for (const send of [inSession, withoutSession, overSse])
        expect([method, params, await send(method, params)]).toEqual([
          method,
          params,
          expect.objectContaining({ result: expect.any(Object) }),
        ]);
    for (const { method, params } of LEFT_OUT)
      expect([method, await modern(method, params)]).toEqual([
        method,
        expect.objectContaining({ result: expect.any(Object) }),
      ]);
  });
});

describe("paramsRefusal", () => {
  it("says what is wrong and what to send, on every transport", async () => {
    const { inSession, withoutSession, modern, overSse } = await open();
    for (const [method, params, message] of [...REFUSED, ...REFUSED_WHOLE])
      for (const send of [inSession, withoutSession, overSse]) {
        const answer = await send(method, params);
        expect(answer).toMatchObject(refusal(message));
        expect(answer.error.message).toMatch(ADVICE);
      }
    for (const [method, params, message] of REFUSED)
      expect(await modern(method, params as object)).toMatchObject(refusal(message));
  });
});
