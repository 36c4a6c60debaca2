import { describe, expect, it } from "vitest";
import { describeBody, type VendorResponse } from "../../../src/connections/models/vendor-error.ts";
import { stepErrorOf } from "../../support/mock-http-server.ts";
import {
  askModel,
  MODEL_KEY,
  mockModelServer,
  type Play,
  VENDORS,
  type VendorName,
} from "../../support/mock-model-server.ts";

/** A response with JSON, or with a text of another type. */
const reply =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Play =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };

const failureOf = async (vendor: VendorName, play: Play, more = {}) =>
  stepErrorOf(askModel(vendor, await mockModelServer(vendor, play), more));

/** A chat completion with one choice. */
const completion = (message: object, finish_reason: string | null, more: object = {}): object => ({
  id: "c1",
  object: "chat.completion",
  created: 1_790_000_000,
  model: "m-1",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason, ...more }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

const schema = { type: "object", properties: { mood: { enum: ["good", "bad"] } }, required: ["mood"] };

const PAGE = `<!DOCTYPE html><html><head><title>502 Bad\n Gateway</title></head><body>${"x".repeat(50_000)}</body></html>`;

describe.each(VENDORS)("a failure of %s", (vendor) => {
  it.each([
    [429, "model_rate_limited", true],
    ["429", "model_rate_limited", true],
    ["rate_limit_exceeded", "model_rate_limited", true],
    ["RESOURCE_EXHAUSTED", "model_rate_limited", true],
    [502, "model_failed", true],
    ["overloaded_error", "model_failed", true],
    ["something_else", "model_failed", true],
    [null, "model_failed", true],
    [400, "model_failed", false],
    [402, "model_failed", false],
    ["invalid_request_error", "model_failed", false],
  ])("in a response with status 200 counts by its code %s", async (code, expected, transient) => {
    const play = reply({ error: { code, message: "upstream is full" } }, 200, { "retry-after": "7" });
    const error = await failureOf(vendor, play);
    expect(error).toMatchObject({ code: expected, transient, options: { retryAfterMs: 7_000 } });
    expect(error.message).toContain("upstream is full");
  });

  it.each([
    [{ error: { message: "too hot" } }, "too hot"],
    [{ error: "too hot" }, "too hot"],
    [{ message: "too hot" }, "too hot"],
    [{ detail: "too hot" }, "too hot"],
    [{ detail: [{ loc: ["body", "temperature"], msg: "too hot" }] }, "body.temperature: too hot"],
    [{ errors: [{ message: "too hot" }, "too long"] }, "too hot; too long"],
    [{ error: { errors: [{ reason: "too hot" }] } }, "too hot"],
    [{ message: "", detail: "too hot" }, "too hot"],
    [{ error: { message: " ", errors: ["", { reason: "too hot" }] } }, "too hot"],
    [{ error: { code: "bad", message: null }, detail: "too hot" }, "too hot"],
    [{ error: {}, message: "too hot" }, "too hot"],
    [[{ error: { code: 422, message: "too hot" } }], "too hot"],
    ["too\n hot", "too hot"],
    ["", "it gives no reason"],
    [{ hello: 1 }, "it gives no reason"],
    [PAGE, 'an HTML page with the title "502 Bad Gateway"'],
  ])("is reported with the message of %j", async (body, message) => {
    const error = await failureOf(vendor, reply(body, 422));
    expect(error.message).toBe(`The vendor of "writer" rejected the call (status 422): ${message}`);
  });

  it("is reported without the key, and without the rest of a long message", async () => {
    const error = await failureOf(vendor, reply(`the key ${MODEL_KEY} of ${"x".repeat(100_000)}`, 503));
    expect(error).toMatchObject({ code: "model_failed", transient: true });
    expect(error.message).not.toContain(MODEL_KEY);
    expect(error.message.length).toBeLessThan(500);
    const inner = await failureOf(vendor, reply({ error: { code: 502, message: `the key ${MODEL_KEY}` } }));
    expect(inner.message + JSON.stringify(inner.options)).not.toContain(MODEL_KEY);
  });

  it("is described if it is a page of a proxy with status 200", async () => {
    const error = await failureOf(vendor, reply(PAGE, 200, { "content-type": "text/html" }));
    expect(error).toMatchObject({ code: "model_failed", transient: true });
    expect(error.message).toContain('an HTML page with the title "502 Bad Gateway"');
    expect(error.message).not.toContain("xxx");
  });
});

describe("a failure of a vendor", () => {
  it.each(["mistral", "openai-compatible"] as const)("counts inside a choice of %s", async (vendor) => {
    const body = completion({ content: "" }, "error", { error: { code: 502, message: "upstream broke" } });
    for (const outputSchema of [undefined, schema]) {
      const peer = await mockModelServer(vendor, reply(body));
      const error = await stepErrorOf(askModel(vendor, peer, { outputSchema }));
      expect(error).toMatchObject({
        code: "model_failed",
        transient: true,
        options: { details: { status: 502 } },
      });
      expect(error.message).toContain("(status 502 in a response with status 200): upstream broke");
      expect(peer.received).toHaveLength(1);
    }
  });

  it("counts in the stream that a proxy sends", async () => {
    const stream = `: OPENROUTER PROCESSING\n\ndata: {"id":"c1"}\n\ndata: {"id":"c1","error":{"code":429,"message":"Slow down"}}\n\n`;
    const play = reply(stream, 200, { "content-type": "text/event-stream" });
    expect(await failureOf("openai-compatible", play)).toMatchObject({
      code: "model_rate_limited",
      message: expect.stringContaining("Slow down") as string,
    });
  });

  // https://openrouter.ai/docs/api/reference/errors-and-debugging
  it("shows what the provider behind OpenRouter says, and waits as that asks", async () => {
    const metadata = {
      provider_name: "Acme",
      raw: '{"error":{"message":"quota per minute"}}',
      headers: { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795248005000" },
    };
    const error = await failureOf(
      "openai-compatible",
      reply({ error: { code: 429, message: "Provider returned error", metadata } }, 200, {
        date: "Sat, 21 Nov 2026 08:00:00 GMT",
      }),
    );
    expect(error.message).toContain("Provider returned error; Acme: quota per minute");
    expect(error.options.retryAfterMs).toBe(5_000);
  });

  // https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
  it("waits as long as Google's RetryInfo says", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }];
    const error = await failureOf(
      "google",
      reply({ error: { code: 429, message: "Quota", status: "RESOURCE_EXHAUSTED", details } }, 429),
    );
    expect(error).toMatchObject({ code: "model_rate_limited", options: { retryAfterMs: 34_500 } });
  });

  it("of OpenRouter's moderation is a refusal, although its status is 403", async () => {
    const metadata = { reasons: ["violence"], flagged_input: "…", provider_name: "Acme" };
    const play = reply({ error: { code: 403, message: "Input was flagged", metadata } }, 403);
    expect((await failureOf("openai-compatible", play)).code).toBe("model_refused");
  });

  it("counts in a response of OpenAI that failed", async () => {
    const failed = { id: "resp_1", object: "response", status: "failed", output: [], usage: null };
    const play = reply({ ...failed, error: { code: "server_error", message: "The model failed." } });
    const error = await failureOf("openai", play);
    expect(error.message).toContain("(status 500 in a response with status 200): The model failed.");
  });
});

describe("an answer with an error that says nothing", () => {
  const empty = [{}, [], "", " ", null, false, { message: null }, { code: 0, message: "", details: [{}] }];

  it.each(empty)("is an answer: %j", async (error) => {
    const body = completion({ content: "Hello." }, "stop", { error });
    const peer = await mockModelServer("openai-compatible", reply({ ...body, error }));
    expect((await askModel("openai-compatible", peer)).text).toBe("Hello.");
  });

  it.each([{ code: 429 }, { message: "Slow down" }, { type: "overloaded_error", message: null }])(
    "is none with the error %j",
    async (error) => {
      const body = { ...completion({ content: "Hello." }, "stop"), error };
      expect((await failureOf("openai-compatible", reply(body))).transient).toBe(true);
    },
  );

  it("is none with an error that is nested deep", async () => {
    const error = `${'{"a":'.repeat(100_000)}null${"}".repeat(100_000)}`;
    const failure = await failureOf("openai-compatible", reply(`{"error":${error}}`));
    expect(failure.message).toContain("an error in a response with status 200");
  });
});

describe("an answer that has no text", () => {
  const cases = [
    ["null", { content: null }, "stop", "returned an empty answer"],
    ["a tool call", { content: null, tool_calls: [toolCall()] }, "tool_calls", "called a tool"],
    ["a part, because of an error", { content: "part" }, "error", "ended the answer because of an error"],
    ["its thinking", { content: null, reasoning_content: "Hm." }, "length", "reached its length limit"],
  ] as const;

  it.each(cases)("but %s is an error that says so", async (_, message, finish, expected) => {
    const error = await failureOf("openai-compatible", reply(completion(message, finish)));
    expect(error.code).toBe("model_failed");
    expect(error.message).toContain(expected);
  });

  it.each(cases.slice(1, 3))(
    "but %s is the same error with a schema, after one request",
    async (_, message, finish, expected) => {
      const peer = await mockModelServer("openai-compatible", reply(completion(message, finish)));
      const error = await stepErrorOf(askModel("openai-compatible", peer, { outputSchema: schema }));
      expect(error.message).toContain(expected);
      expect(peer.received).toHaveLength(1);
    },
  );

  it.each(["mistral", "openai-compatible"] as const)("because %s sent no choices says so", async (vendor) => {
    const error = await failureOf(vendor, reply({ ...completion({}, "stop"), choices: [] }));
    expect(error.message).toContain("its choices is an empty list");
  });
});

function toolCall(): object {
  return { id: "t1", type: "function", function: { name: "f", arguments: "{}" } };
}

const received = (body: string): VendorResponse => ({ status: 200, headers: {}, body });

describe("describeBody", () => {
  it("names what a body is", () => {
    expect(describeBody(received(""))).toBe("it is empty");
    expect(describeBody(received("[1]"))).toBe("it is JSON, but not an object");
    expect(describeBody(received('{"hello":1}'))).toBe("it is an object with the fields hello");
  });

  // The form of Cloudflare's API, which has a list of errors, and no error.
  it("adds the messages of a body", () => {
    const body = {
      success: false,
      errors: [{ code: 7003, message: "No route" }],
      messages: [],
      result: null,
    };
    expect(describeBody(received(JSON.stringify(body)))).toBe(
      "its messages is an empty list, and it says: No route",
    );
    expect(describeBody(received('{"success":false,"errors":[{"message":"No route"}]}'))).toBe(
      "it is an object with the fields success, errors, and it says: No route",
    );
  });
});
