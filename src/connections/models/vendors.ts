/** The packages of the model vendors, loaded on demand, because together they have several megabytes. */
import type { generateText, JSONValue } from "ai";
import type { Config } from "../../../schemas/config.ts";

export type ModelConfig = Config["models"][number];
type LanguageModel = Parameters<typeof generateText>[0]["model"];

interface Access {
  key: string;
  fetch: typeof globalThis.fetch;
}

type Vendor = (entry: ModelConfig, access: Access) => Promise<LanguageModel>;

/** The default URL of each vendor; base_url replaces it and is required for self-hosted servers. */
const ADDRESSES: Readonly<Record<ModelConfig["vendor"], string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
  mistral: "https://api.mistral.ai/v1",
  "openai-compatible": "",
};

/** The URL of the API of a model. */
export const baseUrlOf = ({ vendor, base_url: url }: ModelConfig): string => url ?? ADDRESSES[vendor];

// Key and URL always come from the configuration. Without them, the packages would read the environment.
const VENDORS: Readonly<Record<ModelConfig["vendor"], Vendor>> = {
  async openai(entry, { key, fetch }) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ apiKey: key, baseURL: baseUrlOf(entry), fetch })(entry.model_ref);
  },
  async anthropic(entry, { key, fetch }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ apiKey: key, baseURL: baseUrlOf(entry), fetch })(entry.model_ref);
  },
  async google(entry, { key, fetch }) {
    const { createGoogle } = await import("@ai-sdk/google");
    return createGoogle({ apiKey: key, baseURL: baseUrlOf(entry), fetch })(entry.model_ref);
  },
  async mistral(entry, { key, fetch }) {
    const { createMistral } = await import("@ai-sdk/mistral");
    return createMistral({ apiKey: key, baseURL: baseUrlOf(entry), fetch })(entry.model_ref);
  },
  async "openai-compatible"(entry, { key, fetch }) {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    return createOpenAICompatible({
      name: entry.name,
      baseURL: baseUrlOf(entry),
      ...(key !== "" && { apiKey: key }),
      fetch,
      supportsStructuredOutputs: true,
    })(entry.model_ref);
  },
};

/** Loads the AI SDK's model of an entry. */
export const loadLanguageModel: Vendor = (entry, access) => VENDORS[entry.vendor](entry, access);

/** Whether the vendor requires a key; self-hosted servers may not. */
export const requiresApiKey = ({ vendor }: ModelConfig): boolean => vendor !== "openai-compatible";

/**
 * Options of a call by vendor. Strict mode is off, because schemas of workflows may exceed it and the answer is checked here.
 * `store: false`, because OpenAI stores responses by default.
 */
export const providerOptions = ({
  vendor,
  name,
}: ModelConfig): Record<string, Record<string, JSONValue>> | undefined => {
  if (vendor === "openai") return { openai: { strictJsonSchema: false, store: false } };
  return vendor === "openai-compatible" ? { [name]: { strictJsonSchema: false } } : undefined;
};
