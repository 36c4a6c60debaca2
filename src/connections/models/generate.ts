/** Calls a model through the AI SDK, without the SDK's retries, because the engine retries steps. */
import type { ModelMessage, Output } from "ai";
import type { ModelRequest } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import { type JsonSchema, publishedSchema } from "../../core/json-schema/index.ts";
import { modelRefused } from "./errors.ts";
import { loadLanguageModel, type ModelConfig, providerOptions } from "./vendors.ts";

/** Maximum number of tokens that one answer is counted with, in each direction. */
const MAX_TOKENS = 1_000_000_000;

export interface GenerationResult {
  text: string;
  finishReason: string;
  /** Input and output tokens. */
  input: number;
  output: number;
}

/**
 * Creates a function that sends the request and the messages since then.
 * It throws what the AI SDK throws, and a StepError for a refusal or an empty answer.
 */
export function createTextGenerator(
  entry: ModelConfig,
  access: { key: string; fetch: typeof globalThis.fetch },
  request: ModelRequest,
  signal: AbortSignal,
): (since: ModelMessage[]) => Promise<GenerationResult> {
  const schema = request.outputSchema && publishedSchema(request.outputSchema);
  const options = providerOptions(entry);
  const system = schema === undefined ? request.system : withSchema(request.system, schema, entry);
  return async (since) => {
    const [{ generateText }, model] = await Promise.all([import("ai"), loadLanguageModel(entry, access)]);
    // The SDK prints warnings about unsupported options; this is the only switch.
    globalThis.AI_SDK_LOG_WARNINGS = false;
    const result = await generateText({
      model,
      messages: [{ role: "user", content: request.prompt }, ...since],
      maxRetries: 0,
      abortSignal: signal,
      ...(request.trace !== undefined && { headers: { ...request.trace } }),
      ...(system !== undefined && { system }),
      ...(schema !== undefined && { output: rawJson(schema) }),
      ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
      ...(request.temperature !== undefined && { temperature: request.temperature }),
      ...(options !== undefined && { providerOptions: options }),
    });
    const { finishReason, rawFinishReason, totalUsage } = result;
    if (finishReason === "content-filter" || rawFinishReason === "content_filter")
      throw modelRefused(entry.name);
    if (finishReason === "error" || rawFinishReason === "error") throw brokenOff(entry.name);
    const text = finishReason === "stop" && schema !== undefined ? result.output : result.text;
    if (text.trim() === "") {
      if (finishReason === "tool-calls") throw calledTool(entry.name);
      // The model is asked once more for the object of a schema.
      if (schema === undefined) throw empty(entry.name, finishReason);
    }
    return {
      text,
      finishReason,
      input: tokenCount(totalUsage.inputTokens),
      output: tokenCount(totalUsage.outputTokens),
    };
  };
}

/** A self-hosted server may report any number, but usage is counted in columns of whole numbers, and limited by them. */
const tokenCount = (reported = 0): number => Math.min(Math.max(Math.ceil(reported), 0), MAX_TOKENS);

/** Sends the schema to the vendor and returns the raw answer, which Millrace checks and repairs itself. */
const rawJson = (schema: JsonSchema): Output.Output<string, string, never> => ({
  name: "object",
  responseFormat: Promise.resolve({ type: "json", schema }),
  parseCompleteOutput: ({ text }) => Promise.resolve(text),
  parsePartialOutput: () => Promise.resolve(undefined),
  createElementStreamTransform: () => undefined,
});

/** Self-hosted servers may ignore the schema of a call, so it is repeated in the system text. */
const withSchema = (
  system: string | undefined,
  schema: JsonSchema,
  { vendor }: ModelConfig,
): string | undefined =>
  vendor === "openai-compatible"
    ? [system, `Answer with JSON that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`]
        .filter((part) => part !== undefined)
        .join("\n\n")
    : system;

/** The text so far is not the answer, but nothing in it shows that. */
const brokenOff = (model: string): StepError =>
  new StepError("model_failed", `The vendor of "${model}" ended the answer because of an error.`, {
    fix: "Try again.",
    details: { finish_reason: "error" },
  });

const calledTool = (model: string): StepError =>
  new StepError(
    "model_failed",
    `The model "${model}" called a tool instead of answering, but a step offers none.`,
    {
      fix: "Try again, or say in the prompt that no tools are available.",
      details: { finish_reason: "tool-calls" },
    },
  );

const empty = (model: string, finishReason: string): StepError =>
  finishReason === "length"
    ? new StepError(
        "model_failed",
        `The model "${model}" reached its length limit before it produced text.`,
        {
          fix: "Raise max_output_tokens.",
          details: { finish_reason: finishReason },
          transient: false,
        },
      )
    : new StepError("model_failed", `The model "${model}" returned an empty answer.`, {
        fix: "Try again.",
        details: { finish_reason: finishReason },
      });
