/** The parameters of requests, as clients write them: null for what they leave out, and errors of our own for what can't be read. */
import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { z } from "zod";
import { invalidInput, issuesOf } from "../../core/issues.ts";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const withoutNullMembers = (value: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));

/**
 * Leaves out what a request has as null: no method of MCP gives null a meaning in its parameters, and some clients write each optional
 * one. What is inside the arguments of a tool is left to its schema; those of a prompt are texts.
 */
export function withoutNulls(message: unknown): unknown {
  if (!isObject(message) || typeof message["method"] !== "string") return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (!isObject(params)) return message;
  const sent = withoutNullMembers(params);
  for (const name of message["method"] === GET_PROMPT ? ["_meta", "arguments"] : ["_meta"])
    if (isObject(sent[name])) sent[name] = withoutNullMembers(sent[name]);
  return { ...message, params: sent };
}

const GET_PROMPT = "prompts/get";
const Texts = z.record(z.string(), z.string());
const Page = z.looseObject({ cursor: z.string().optional() }).optional();
const Any = z.looseObject({}).optional();

/** What the handlers of this server need, with an example. The SDK answers its own descriptions of a failure, which name no fix. */
const PARAMS: Readonly<Record<string, { schema: z.ZodType; example: object }>> = {
  "tools/call": {
    schema: z.looseObject({ name: z.string(), arguments: z.looseObject({}).optional() }),
    example: { name: "list_workflows", arguments: { limit: 10 } },
  },
  [GET_PROMPT]: {
    schema: z.looseObject({ name: z.string(), arguments: Texts.optional() }),
    example: { name: "debug_run", arguments: { run_id: "run_8dkq2m0sfj3a" } },
  },
  "resources/read": {
    schema: z.looseObject({ uri: z.string() }),
    example: { uri: "millrace://guide/definition" },
  },
  "skills/get": {
    schema: z.looseObject({ uri: z.string() }),
    example: { uri: "skill://millrace/SKILL.md" },
  },
  "completion/complete": {
    schema: z.looseObject({
      ref: z.looseObject({ type: z.string() }),
      argument: z.looseObject({ name: z.string(), value: z.string() }),
      context: z.looseObject({ arguments: Texts.optional() }).optional(),
    }),
    example: { ref: { type: "ref/prompt", name: "debug_run" }, argument: { name: "run_id", value: "" } },
  },
  ...Object.fromEntries(
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "skills/list"].map(
      (method) => [method, { schema: Page, example: {} }],
    ),
  ),
};

/** The answer to a request whose parameters can't be read; undefined for any other message. */
export function paramsRefusal(message: unknown): object | undefined {
  if (!isObject(message)) return undefined;
  const { id, method } = message;
  if (typeof method !== "string" || (typeof id !== "string" && typeof id !== "number")) return undefined;
  const { schema, example } = (Object.hasOwn(PARAMS, method) ? PARAMS[method] : undefined) ?? {
    schema: Any,
    example: {},
  };
  const request = z.looseObject({ params: schema });
  const { error } = request.safeParse(message, { reportInput: true });
  if (error === undefined) return undefined;
  const { message: found } = invalidInput(issuesOf(error, request));
  const advice = `Send params of ${method.slice(0, 100)} such as ${JSON.stringify(example)}.`;
  return {
    jsonrpc: "2.0",
    id,
    error: { code: ProtocolErrorCode.InvalidParams, message: `${found} ${advice}` },
  };
}
