/** The vendors' own packages, each loaded when it is first needed: together they are several megabytes. */
import type { generateText, JSONValue } from "ai";
import type { Config } from "../../../schemas/config.ts";

export type ModelConfig = Config["models"][number];
type LanguageModel = Parameters<typeof generateText>[0]["model"];

interface Access {
  key: string;
  fetch: typeof globalThis.fetch;
}

type Vendor = (entry: ModelConfig, access: Access) => Promise<LanguageModel>;

/** Where each vendor serves its own models; a server of one's own is named by base_url. */
const ADDRESSES: Readonly<Record<ModelConfig["vendor"], string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
  mistral: "https://api.mistral.ai/v1",
  "openai-compatible": "",
};

/** Where the model of an entry is served. */
export const baseUrlOf = ({ vendor, base_url: url }: ModelConfig): string => url ?? ADDRESSES[vendor];

// Key and address always come from the configuration: left out, the packages would read the environment themselves.
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

/** The model of an entry, as the AI SDK takes it. */
export const loadLanguageModel: Vendor = (entry, access) => VENDORS[entry.vendor](entry, access);

/** Whether a vendor answers nobody without a key; a server of one's own may. */
export const requiresApiKey = ({ vendor }: ModelConfig): boolean => vendor !== "openai-compatible";

/**
 * What differs by vendor in a call: a workflow's schema need not keep to what a vendor's strict mode takes, because
 * the answer is checked here; and nothing is kept at OpenAI, which it does unless told.
 */
export const providerOptions = ({
  vendor,
  name,
}: ModelConfig): Record<string, Record<string, JSONValue>> | undefined => {
  if (vendor === "openai") return { openai: { strictJsonSchema: false, store: false } };
  return vendor === "openai-compatible" ? { [name]: { strictJsonSchema: false } } : undefined;
};
