/** How a caller sends a request: over REST, or over MCP. */
import { isServedOn } from "../../../src/core/tool.ts";
import { catalogue } from "../../../tools/index.ts";
import { apiClient } from "../http.ts";
import type { Json } from "../json.ts";
import type { Actor } from "./made.ts";
import { ACCEPT_HEADERS, modernRequest, toolCall } from "../raw-mcp.ts";
import { asRequest } from "../surface-clients.ts";

export interface Answered {
  /** `ok`, or the code of the refusal. */
  answer: string;
  output: Json;
}

const toolOf = (operation: string) => catalogue.find(({ name }) => name === operation)!;
export const isOnMcp = (operation: string): boolean => isServedOn(toolOf(operation), "mcp");

export async function overRest(
  url: string,
  actor: Actor,
  operation: string,
  input: Record<string, unknown>,
): Promise<Answered> {
  const { method, target, body, headers } = asRequest(toolOf(operation), input);
  const answer = await apiClient(url)(method, target, body, { ...headers, ...actor.headers });
  const { code } = (answer.body ?? {}) as { code?: string };
  return { answer: answer.status < 300 ? "ok" : (code ?? `status ${answer.status}`), output: answer.body };
}

export async function overMcp(
  url: string,
  actor: Actor,
  operation: string,
  input: Record<string, unknown>,
): Promise<Answered> {
  const call = toolCall(operation, input);
  const { headers, body } = modernRequest({ ...actor.headers, ...ACCEPT_HEADERS }, call.method, call.params);
  const response = await apiClient(url)("POST", "/mcp", body, headers);
  if (response.status === 401) return { answer: "unauthorized", output: response.body };
  // The application learns that it can ask the person for the scope.
  if (response.status === 403) return { answer: "missing_scope", output: response.body };
  const message = messageIn(response.body);
  const { result, error } = message;
  if (error !== undefined) return { answer: error.data?.code ?? JSON.stringify(error), output: error };
  if (result?.isError)
    return { answer: (JSON.parse(result.content[0].text) as { code: string }).code, output: result };
  return { answer: "ok", output: result?.structuredContent ?? result };
}

/** The message of a response, which may be an event stream. */
function messageIn(body: Json): Json {
  if (typeof body !== "string") return body;
  const data = body.split("\n").findLast((line) => line.startsWith("data: {"));
  if (data === undefined) throw new Error(`not a message: ${body.slice(0, 300)}`);
  return JSON.parse(data.slice("data: ".length));
}
