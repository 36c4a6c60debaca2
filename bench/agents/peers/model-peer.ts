/** A model server on loopback with the API of OpenAI, whose answers a task decides. */
import { type HttpPeer, startHttpPeer } from "./http-peer.ts";

interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
}

interface ChatRequest {
  messages: { role: string; content: unknown }[];
  response_format?: { json_schema?: { schema?: JsonSchema } };
}

const textOf = (content: unknown): string =>
  typeof content === "string" ? content : JSON.stringify(content);

/** A value that matches the schema, with `choice` wherever an enumeration or a text allows it. */
function fill(schema: JsonSchema, choice: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum.includes(choice) ? choice : schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object" || schema.properties !== undefined)
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, fill(inner, choice)]),
    );
  if (type === "array") return [fill(schema.items ?? {}, choice)];
  if (type === "number" || type === "integer") return 1;
  return type === "boolean" ? true : choice;
}

/**
 * Starts a model server.
 * @param choose what the model says about a prompt: the answer as text, or the value of a field of the schema
 */
export function startModelPeer(choose: (prompt: string) => string): Promise<HttpPeer> {
  return startHttpPeer(({ json }) => {
    const { messages, response_format: format } = json as ChatRequest;
    const choice = choose(messages.map(({ content }) => textOf(content)).join("\n"));
    const schema = format?.json_schema?.schema;
    const content = schema === undefined ? choice : JSON.stringify(fill(schema, choice));
    return {
      body: {
        id: "c1",
        object: "chat.completion",
        created: 1_790_000_000,
        model: "m-1",
        choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
        usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      },
    };
  });
}
