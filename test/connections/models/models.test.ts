import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createModels } from "../../../src/connections/models/index.ts";
import { fixedSecrets } from "../../../src/core/secret-source.ts";
import { StepError } from "../../../src/core/step-errors.ts";
import { parseConfig, stepErrorOf, mockHttpServer, sendJson } from "../../support/mock-http-server.ts";
import {
  askModel as ask,
  errorReply,
  MODEL_KEY as KEY,
  MODEL_NOW as NOW,
  mockModelServer,
  VENDORS,
  WIRE_FORMATS,
} from "../../support/mock-model-server.ts";
import { callOf } from "../../support/call-context.ts";

const never = new AbortController().signal;

const schema = {
  type: "object",
  properties: { mood: { enum: ["good", "bad"] }, note: { type: "string", pattern: "^[a-z ]+$" } },
  required: ["mood"],
  additionalProperties: false,
};

describe("the usage of a model", () => {
  it("is whole numbers of tokens, whatever a self-hosted server reports", async () => {
    const wire = WIRE_FORMATS["openai-compatible"];
    const report = (prompt_tokens: number, completion_tokens: number) => (response: ServerResponse) =>
      sendJson(response, {
        ...(wire.answer("Hello.", "stop") as object),
        usage: { prompt_tokens, completion_tokens },
      });
    const peer = await mockModelServer("openai-compatible", report(12.5, -3), report(1e300, 0));
    expect((await ask("openai-compatible", peer)).usage).toMatchObject({
      input_tokens: 13,
      output_tokens: 0,
    });
    const { usage } = await ask("openai-compatible", peer);
    expect(usage.input_tokens).toBeLessThan(Number.MAX_SAFE_INTEGER);
  });
});

describe.each(VENDORS)("a model of %s", (vendor) => {
  const { path, key } = WIRE_FORMATS[vendor];

  it("gets prompt, system text, limits and key, and returns text with usage and cost", async () => {
    const peer = await mockModelServer(vendor, { text: "Hello." });
    const answer = await ask(vendor, peer, { system: "Be brief.", maxOutputTokens: 77, temperature: 0.5 });
    expect(answer).toEqual({
      text: "Hello.",
      object: null,
      usage: { input_tokens: 100, output_tokens: 20, cost: (100 * 3 + 20 * 15) / 1_000_000 },
      finish_reason: "stop",
    });
    const [request] = peer.received;
    expect(request).toMatchObject({ method: "POST", path });
    expect(request!.headers[key[0]]).toBe(key[1] + KEY);
    for (const part of ["Say hello.", "Be brief.", "77", "0.5"]) expect(request!.body).toContain(part);
    expect(request!.body).not.toContain(KEY);
  });

  it("returns an object that matches the schema", async () => {
    const peer = await mockModelServer(vendor, { text: '{"mood":"good"}' });
    const answer = await ask(vendor, peer, { outputSchema: schema });
    expect(answer).toMatchObject({ text: null, object: { mood: "good" }, usage: { input_tokens: 100 } });
    expect(peer.received).toHaveLength(1);
    expect(peer.received[0]!.body).toContain("mood");
  });

  it("is asked to correct an object with a key that occurs twice", async () => {
    const peer = await mockModelServer(
      vendor,
      { text: '{"mood":"good","mood":"bad"}' },
      { text: '{"mood":"bad"}' },
    );
    expect((await ask(vendor, peer, { outputSchema: schema })).object).toMatchObject({ mood: "bad" });
    expect(peer.received[1]!.body).toContain("The key mood occurs twice in the same object");
  });

  it("gets no limits beyond 2^53, and its answers are checked by all digits", async () => {
    const id = { type: "integer", maximum: "9223372036854775807" };
    const outputSchema = { type: "object", properties: { id }, required: ["id"] };
    const peer = await mockModelServer(
      vendor,
      { text: '{"id":9223372036854775808}' },
      { text: '{"id":9223372036854775807}' },
    );
    expect((await ask(vendor, peer, { outputSchema })).object).toEqual({ id: "9223372036854775807" });
    expect(peer.received[0]!.body).not.toContain("maximum");
    expect(peer.received[1]!.body).toContain("id must be at most 9223372036854775807");
  });

  it("is asked once to correct an object that does not match, and the usage is added up", async () => {
    const peer = await mockModelServer(vendor, { text: '{"mood":"fine","x":1}' }, { text: '{"mood":"bad"}' });
    const answer = await ask(vendor, peer, { outputSchema: schema });
    expect(answer).toMatchObject({
      object: { mood: "bad" },
      usage: { input_tokens: 200, output_tokens: 40 },
    });
    expect(peer.received).toHaveLength(2);
    const repair = peer.received[1]!.body;
    for (const part of ["Say hello.", "fine", "mood must be one of", "x is not a known field"])
      expect(repair).toContain(part);
  });

  it("returns every field of the schema, defaults, and long integers as text", async () => {
    const properties = {
      id: { type: ["string", "number"] },
      note: { type: "string" },
      tone: { type: "string", default: "calm" },
    };
    const peer = await mockModelServer(vendor, { text: '{"id":9007199254740993,"note":null}' });
    const answer = await ask(vendor, peer, { outputSchema: { type: "object", properties } });
    expect(answer.object).toEqual({ id: "9007199254740993", note: null, tone: "calm" });
    expect(peer.received).toHaveLength(1);
  });

  it("fails with the issues if the second object does not match either", async () => {
    const peer = await mockModelServer(vendor, { text: "Certainly!" }, { text: '{"mood":"fine"}' });
    const error = await stepErrorOf(ask(vendor, peer, { outputSchema: schema }));
    expect(error).toMatchObject({
      code: "model_invalid_output",
      transient: true,
      options: {
        details: { issues: [expect.stringContaining("mood must be")] },
        usage: { input_tokens: 200 },
      },
    });
    expect(peer.received).toHaveLength(2);
  });

  it("reports the length limit as finish_reason of a text, and as an error of an object", async () => {
    const peer = await mockModelServer(vendor, { text: '{"mood":"go', finish: "length" });
    expect(await ask(vendor, peer)).toMatchObject({ text: '{"mood":"go', finish_reason: "length" });
    const error = await stepErrorOf(ask(vendor, peer, { outputSchema: schema }));
    expect(error).toMatchObject({ code: "model_invalid_output", transient: false });
    expect(error.options.fix).toContain("max_output_tokens");
    expect(peer.received).toHaveLength(2);
  });

  it("fails with model_refused if it refuses, with or without a schema", async () => {
    const peer = await mockModelServer(vendor, { text: "I can't.", finish: "filter" });
    expect((await stepErrorOf(ask(vendor, peer))).code).toBe("model_refused");
    expect((await stepErrorOf(ask(vendor, peer, { outputSchema: schema }))).code).toBe("model_refused");
  });

  it("fails with model_failed for an empty response, and names the length limit if it was reached", async () => {
    const empty = await stepErrorOf(ask(vendor, await mockModelServer(vendor, { text: "" })));
    expect(empty).toMatchObject({ code: "model_failed", transient: true });
    const cut = await stepErrorOf(ask(vendor, await mockModelServer(vendor, { text: "", finish: "length" })));
    expect(cut).toMatchObject({ code: "model_failed", transient: false });
    expect(cut.options.fix).toContain("max_output_tokens");
  });

  it.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "Sat, 21 Nov 2026 08:01:30 GMT", date: "Sat, 21 Nov 2026 08:00:00 GMT" }, 90_000],
    [{ "retry-after-ms": "1500" }, 1_500],
    [{}, undefined],
  ])(
    "fails after one request with the time to retry if it limits the rate with %o",
    async (headers, expected) => {
      const peer = await mockModelServer(vendor, errorReply(vendor, 429, headers));
      const error = await stepErrorOf(ask(vendor, peer));
      expect(error).toMatchObject({ code: "model_rate_limited", transient: true });
      expect(error.options.retryAfterMs).toBe(expected);
      expect(peer.received).toHaveLength(1);
    },
  );

  it.each([400, 401, 403, 404, 409, 500])(
    "has the time to retry with every status, because a step may retry it: %i",
    async (status) => {
      const peer = await mockModelServer(vendor, errorReply(vendor, status, { "retry-after": "7" }));
      expect((await stepErrorOf(ask(vendor, peer))).options.retryAfterMs).toBe(7_000);
    },
  );

  it.each([
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [413, false],
    [500, true],
    [503, true],
    [529, true],
  ])("fails with model_failed for status %i; transient: %s", async (status, transient) => {
    const message = `Incorrect API key provided: ${KEY}`;
    const peer = await mockModelServer(vendor, errorReply(vendor, status, {}, "some_code", message));
    const error = await stepErrorOf(ask(vendor, peer));
    expect(error).toMatchObject({ code: "model_failed", transient, options: { details: { status } } });
    const shown = error.message + JSON.stringify(error.options.details);
    expect(shown).not.toContain(KEY);
    // A vendor's message about a key may contain parts of it.
    expect(shown.includes("Incorrect API key")).toBe(status !== 401 && status !== 403);
    expect(error.options.fix).toMatch(/operator to check|^Change the step|temporary|^Try again/);
    expect(peer.received).toHaveLength(1);
  });

  it.each([
    ["invalid JSON", (response: ServerResponse) => void response.end("<html>")],
    ["another shape", (response: ServerResponse) => sendJson(response, { hello: [1] })],
    ["nothing", (response: ServerResponse) => void response.end()],
    ["null", (response: ServerResponse) => sendJson(response, null)],
  ])("fails with model_failed for a response with %s", async (_name, play) => {
    const error = await stepErrorOf(ask(vendor, await mockModelServer(vendor, play)));
    expect(error.code).toBe("model_failed");
  });

  it("is disconnected with the step's reason when the step is aborted", async () => {
    for (const play of [
      () => undefined,
      (response: ServerResponse) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"a":');
      },
    ]) {
      const peer = await mockModelServer(vendor, play);
      const stop = new AbortController();
      const reason = new StepError("timeout", "It took too long.");
      const call = stepErrorOf(ask(vendor, peer, {}, stop.signal));
      await peer.requestReceived;
      stop.abort(reason);
      expect(await call).toBe(reason);
      await peer.connectionClosed;
    }
  });
});

/** Sends a response that continues until the client disconnects. */
const endless =
  (encode: (part: Buffer) => Buffer, headers: Record<string, string>) => (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/json", ...headers });
    const part = encode(Buffer.alloc(64 * 1024, " "));
    const more = (): void => {
      while (!response.destroyed) if (!response.write(part)) return void response.once("drain", more);
    };
    more();
  };

describe("a call of a model", () => {
  it.each([
    ["never ends", endless((part) => part, {})],
    ["is a decompression bomb", endless((part) => gzipSync(part), { "content-encoding": "gzip" })],
  ])("stops at the limit if the response %s", async (_name, play) => {
    const peer = await mockModelServer("openai-compatible", play);
    const error = await stepErrorOf(ask("openai-compatible", peer));
    expect(error).toMatchObject({ code: "output_too_large" });
    await peer.connectionClosed;
  });

  it("follows no redirect, so that the key goes to no other host", async () => {
    const target = await mockHttpServer((_request, response) => void response.end());
    const peer = await mockModelServer("mistral", (response) => {
      response.writeHead(307, { location: target.url });
      response.end();
    });
    expect(await stepErrorOf(ask("mistral", peer))).toMatchObject({ code: "model_failed", transient: false });
    expect(target.connectionCount()).toBe(0);
  });

  it("reports an unreachable vendor as transient", async () => {
    const peer = await mockModelServer("openai", (response) => void response.destroy());
    const error = await stepErrorOf(ask("openai", peer));
    expect(error).toMatchObject({ code: "model_failed", transient: true });
    expect(error.options.fix).toContain("base_url");
  });

  it("reports an exhausted quota as permanent", async () => {
    const peer = await mockModelServer("openai", errorReply("openai", 429, {}, "insufficient_quota"));
    expect(await stepErrorOf(ask("openai", peer))).toMatchObject({
      code: "model_rate_limited",
      transient: false,
    });
  });

  it("reports status 400 of a content filter as a refusal", async () => {
    const peer = await mockModelServer("openai", errorReply("openai", 400, {}, "content_filter"));
    expect((await stepErrorOf(ask("openai", peer))).code).toBe("model_refused");
  });

  it("recognizes a refusal in OpenAI's own format", async () => {
    const answer = WIRE_FORMATS.openai.answer("", "stop") as { output: { content: unknown[] }[] };
    answer.output[0]!.content = [{ type: "refusal", refusal: "I can't help with that." }];
    const peer = await mockModelServer("openai", (response) => sendJson(response, answer));
    expect((await stepErrorOf(ask("openai", peer))).code).toBe("model_refused");
    expect((await stepErrorOf(ask("openai", peer, { outputSchema: schema }))).code).toBe("model_refused");
  });

  it("reports a prompt that Google blocks as a refusal", async () => {
    const blocked = {
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 1 },
    };
    const peer = await mockModelServer("google", (response) => sendJson(response, blocked));
    expect((await stepErrorOf(ask("google", peer))).code).toBe("model_refused");
  });

  it("reads an object from a Markdown code block", async () => {
    const peer = await mockModelServer("openai-compatible", { text: '```json\n{"mood":"good"}\n```' });
    expect((await ask("openai-compatible", peer, { outputSchema: schema })).object).toEqual({
      mood: "good",
      note: null,
    });
  });

  it.each([
    ["with many empty lines", `\n \`\`\`json \n${"\n".repeat(500_000)}{"mood":"good"}\n\n\`\`\` \n`],
    ["that has no end", `\`\`\`\n${"\n".repeat(500_000)}{"mood":"good"}`],
  ])("reads a Markdown code block %s", async (_, text) => {
    const peer = await mockModelServer("openai-compatible", { text });
    expect((await ask("openai-compatible", peer, { outputSchema: schema })).object).toEqual({
      mood: "good",
      note: null,
    });
  });

  it("refuses a prompt that is too large without sending it", async () => {
    const peer = await mockModelServer("openai", { text: "x" });
    const error = await stepErrorOf(ask("openai", peer, { prompt: "ü".repeat(600_000) }));
    expect(error).toMatchObject({ code: "input_invalid" });
    expect(error.message).toContain("got 1200000");
    expect(peer.connectionCount()).toBe(0);
  });

  it("refuses an invalid schema without sending it", async () => {
    const peer = await mockModelServer("openai", { text: "x" });
    const error = await stepErrorOf(ask("openai", peer, { outputSchema: { type: "objekt" } }));
    expect(error.code).toBe("input_invalid");
    expect(peer.connectionCount()).toBe(0);
  });
});

describe("the models of a configuration", () => {
  const config = parseConfig({
    models: [
      { name: "writer", vendor: "openai", model_ref: "m-1", key_var: "MODEL_KEY", concurrency: 2 },
      { name: "keyless", vendor: "anthropic", model_ref: "m-2" },
      { name: "local", vendor: "openai-compatible", model_ref: "m-3", base_url: "http://127.0.0.1:1/v1" },
    ],
  });
  const list = (env: Record<string, string>) => createModels(config, fixedSecrets(env), { now: () => NOW });

  const failure = (model: string, env: Record<string, string> = {}) =>
    stepErrorOf(list(env).generate({ model, prompt: "x" }, callOf(never)));

  it("are listed with the reason why they can't be used", () => {
    expect(list({ MODEL_KEY: KEY }).list()).toEqual([
      { name: "writer", type: "openai", model_ref: "m-1", unavailableReason: null },
      {
        name: "keyless",
        type: "anthropic",
        model_ref: "m-2",
        unavailableReason: expect.stringContaining("key_var"),
      },
      { name: "local", type: "openai-compatible", model_ref: "m-3", unavailableReason: null },
    ]);
    expect(list({}).list()[0]!.unavailableReason).toContain("has no key");
  });

  it("can have a limit of simultaneous calls", () => {
    expect(list({}).concurrencyOf("writer")).toBe(2);
    expect(list({}).concurrencyOf("local")).toBeNull();
    expect(list({}).concurrencyOf("none")).toBeNull();
  });

  it("can't be called without a key, or if they do not exist", async () => {
    expect(await failure("writer")).toMatchObject({ code: "environment" });
    expect(await failure("keyless")).toMatchObject({ code: "environment" });
    expect((await failure("writter")).message).toContain('Did you mean "writer"?');
  });
});

describe("an object from Anthropic", () => {
  it("is read from a call of the tool named json", async () => {
    const answer = WIRE_FORMATS.anthropic.answer("", "stop") as Record<string, unknown>;
    const peer = await mockModelServer("anthropic", (response) =>
      sendJson(response, {
        ...answer,
        content: [{ type: "tool_use", id: "t1", name: "json", input: { mood: "good" } }],
        stop_reason: "tool_use",
      }),
    );
    expect(await ask("anthropic", peer, { outputSchema: schema })).toMatchObject({
      object: { mood: "good" },
      finish_reason: "stop",
    });
  });
});
