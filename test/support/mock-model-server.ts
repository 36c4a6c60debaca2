/** A mock server with the wire formats of the model vendors. */
import type { ServerResponse } from "node:http";
import type { Config } from "../../schemas/config.ts";
import { createModels } from "../../src/connections/models/index.ts";
import type { ModelRequest, ModelResponse } from "../../src/core/connections.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { callOf } from "./call-context.ts";
import { parseConfig, mockHttpServer, type MockHttpServer, sendJson } from "./mock-http-server.ts";

export type VendorName = Config["models"][number]["vendor"];

interface Wire {
  /** The path of base_url. */
  base: string;
  /** The path of calls. */
  path: string;
  /** The header with the key, and the prefix of its value. */
  key: [header: string, prefix: string];
  answer(text: string, finish: Finish): unknown;
  /** The vendor's format of errors. */
  error(message: string, code: string): unknown;
}

type Finish = "stop" | "length" | "filter";

const chat = (text: string, finish: Finish): unknown => ({
  id: "c1",
  object: "chat.completion",
  created: 1_790_000_000,
  model: "m-1",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: text },
      finish_reason: { stop: "stop", length: "length", filter: "content_filter" }[finish],
    },
  ],
  usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
});

export const WIRE_FORMATS: Readonly<Record<VendorName, Wire>> = {
  openai: {
    base: "/v1",
    path: "/v1/responses",
    key: ["authorization", "Bearer "],
    // https://platform.openai.com/docs/api-reference/responses
    answer: (text, finish) => ({
      id: "resp_1",
      object: "response",
      created_at: 1_790_000_000,
      model: "m-1",
      status: finish === "stop" ? "completed" : "incomplete",
      error: null,
      incomplete_details:
        finish === "stop" ? null : { reason: finish === "length" ? "max_output_tokens" : "content_filter" },
      output: [
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text, annotations: [] }],
        },
      ],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 120,
      },
    }),
    error: (message, code) => ({ error: { message, type: code, param: null, code } }),
  },
  anthropic: {
    base: "/v1",
    path: "/v1/messages",
    key: ["x-api-key", ""],
    // https://docs.anthropic.com/en/api/messages
    answer: (text, finish) => ({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m-1",
      content: [{ type: "text", text }],
      stop_reason: { stop: "end_turn", length: "max_tokens", filter: "refusal" }[finish],
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 20 },
    }),
    error: (message, code) => ({ type: "error", error: { type: code, message } }),
  },
  google: {
    base: "/v1beta",
    path: "/v1beta/models/m-1:generateContent",
    key: ["x-goog-api-key", ""],
    // https://ai.google.dev/api/generate-content
    answer: (text, finish) => ({
      candidates: [
        {
          content: { role: "model", parts: [{ text }] },
          finishReason: { stop: "STOP", length: "MAX_TOKENS", filter: "SAFETY" }[finish],
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
      modelVersion: "m-1",
    }),
    error: (message, code) => ({ error: { code: 400, message, status: code } }),
  },
  mistral: {
    base: "/v1",
    path: "/v1/chat/completions",
    key: ["authorization", "Bearer "],
    // https://docs.mistral.ai/api/
    answer: chat,
    error: (message, code) => ({ object: "error", message, type: code, param: null, code }),
  },
  "openai-compatible": {
    base: "/v1",
    path: "/v1/chat/completions",
    key: ["authorization", "Bearer "],
    answer: chat,
    error: (message, code) => ({ error: { message, type: code, param: null, code } }),
  },
};

export const VENDORS = Object.keys(WIRE_FORMATS) as VendorName[];

export type Play = { text: string; finish?: Finish } | ((response: ServerResponse) => void);

/** Sends the responses in order, then repeats the last one. */
export function mockModelServer(vendor: VendorName, ...plays: Play[]): Promise<MockHttpServer> {
  let calls = 0;
  return mockHttpServer((_request, response) => {
    const play = plays[Math.min(calls, plays.length - 1)]!;
    calls += 1;
    if (typeof play === "function") play(response);
    else sendJson(response, WIRE_FORMATS[vendor].answer(play.text, play.finish ?? "stop"));
  });
}

/** An error in the vendor's format. */
export const errorReply =
  (
    vendor: VendorName,
    status: number,
    headers: Record<string, string> = {},
    code = "some_code",
    message = "No.",
  ): Play =>
  (response) =>
    sendJson(response, WIRE_FORMATS[vendor].error(message, code), status, headers);

/** A configuration with one model, `writer`, at a mock server. */
export const modelConfig = (vendor: VendorName, peer: Pick<MockHttpServer, "url">): Config =>
  parseConfig({
    models: [
      {
        name: "writer",
        vendor,
        model_ref: "m-1",
        key_var: "MODEL_KEY",
        base_url: peer.url + WIRE_FORMATS[vendor].base,
        prices: { input: 3, output: 15 },
        concurrency: 3,
      },
    ],
  });

export const MODEL_KEY = "sk-test-0123456789abcdef";
/** The time of calls. */
export const MODEL_NOW = Date.parse("2026-11-21T08:00:00.000Z");

/** Calls the model at a mock server. */
export const askModel = (
  vendor: VendorName,
  peer: Pick<MockHttpServer, "url">,
  more: Partial<ModelRequest> = {},
  signal = new AbortController().signal,
): Promise<ModelResponse> =>
  createModels(modelConfig(vendor, peer), fixedSecrets({ MODEL_KEY }), { now: () => MODEL_NOW }).generate(
    { model: "writer", prompt: "Say hello.", ...more },
    callOf(signal),
  );
