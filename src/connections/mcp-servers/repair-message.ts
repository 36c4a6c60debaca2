/**
 * Brings messages of servers into the form that the SDK accepts: it refuses a message for every null that stands for an optional field,
 * and a whole list for one block or tool of another form. What tools return stays as it is.
 */
import { withDigitsOf } from "./exact-values.ts";
import { isObject, repairTools } from "./repair-tools.ts";
import { contentText } from "./tool-result.ts";

type Fields = Readonly<Record<string, unknown>>;
export type RequestId = string | number;

/** The field of `_meta` with the structured content whose long numbers are rounded, for validators that know only doubles. */
export const ROUNDED = "millrace/rounded";

const INTERNAL_ERROR = -32_603;
/** The code of `notAMessage`, of those that the protocol leaves to implementations. */
export const NOT_A_MESSAGE = -32_099;

/**
 * @param message parsed JSON
 * @param requestId the request that was answered with it, if the transport shows that
 * @param rounded the structured content with rounded numbers, if it differs
 */
export function repairMessage(message: Fields, requestId: RequestId | undefined, rounded?: unknown): Fields {
  if (typeof message["method"] === "string") return repairRequest(message);
  const { id, result, error } = message;
  const isId = typeof id === "string" || Number.isInteger(id);
  const base = { jsonrpc: "2.0", id: isId ? id : requestId };
  if (error !== undefined && error !== null) return { ...base, error: repairError(error) };
  if (isObject(result))
    return losesField(result)
      ? { ...base, error: errorOf("its structured content has a field __proto__, which can't be kept") }
      : { ...base, result: repairResult(result, rounded) };
  // Not a response either: the SDK reports it.
  if (!isId && requestId === undefined) return message;
  return { ...base, error: errorOf("the server sent neither a result nor an error") };
}

/** An error of the protocol for a response that is no message. */
export const notAMessage = (id: RequestId, found: string): Fields => ({
  jsonrpc: "2.0",
  id,
  error: {
    code: NOT_A_MESSAGE,
    message: `sent something that is not a message of the protocol: ${found || "an empty response"}`,
  },
});

/** Whether the SDK would drop a field of the structured content. */
const losesField = ({ structuredContent }: Fields): boolean =>
  isObject(structuredContent) && Object.hasOwn(structuredContent, "__proto__");

const errorOf = (message: string): Fields => ({ code: INTERNAL_ERROR, message });

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/** A request or a notification of the server. */
function repairRequest(message: Fields): Fields {
  const { params, ...others } = withoutNulls(message);
  return { ...others, jsonrpc: "2.0", ...(isObject(params) && { params: withoutNulls(params) }) };
}

function repairError(error: unknown): Fields {
  if (!isObject(error)) return errorOf(String(error));
  const { code, message, data } = error;
  const text = typeof message === "string" && message !== "" ? message : "no reason given";
  if (Number.isInteger(code)) return { code, message: text, ...(data !== null && { data }) };
  return {
    ...errorOf(typeof code === "string" ? `${text} (${code})` : text),
    ...(data !== null && { data }),
  };
}

function repairResult(result: Fields, rounded: unknown): Fields {
  const { structuredContent, _meta, content, tools, isError, ...others } = result;
  // Not where the server sends a field of this name.
  const { [ROUNDED]: _, ...sent } = isObject(_meta) ? _meta : {};
  const meta = { ...sent, ...(rounded !== undefined && { [ROUNDED]: rounded }) };
  const isToolResult = content !== undefined || "structuredContent" in result || "isError" in result;
  return {
    ...(repairNested(others) as Fields),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
    ...("nextCursor" in result && cursorOf(result["nextCursor"])),
    ...(Array.isArray(tools) && { tools: repairTools(tools, !("resultType" in result)) }),
    ...(tools !== undefined && !Array.isArray(tools) && { tools: tools ?? [] }),
    ...("protocolVersion" in result && handshakeOf(result)),
    ...(isToolResult && {
      content: [{ type: "text", text: contentText(content) }].filter(({ text }) => text !== ""),
      isError: isError === true || isError === "true" || isError === 1,
    }),
    ...(structuredContent !== null &&
      structuredContent !== undefined && {
        structuredContent: withDigitsOf(contentText(content), structuredContent),
      }),
  };
}

/** What a server has to say about itself in the handshake, with nothing where it does not say it. */
function handshakeOf({ capabilities, serverInfo }: Fields): Fields {
  const { name, version, ...others } = isObject(serverInfo) ? serverInfo : {};
  return {
    capabilities: isObject(capabilities) ? repairNested(capabilities) : {},
    serverInfo: { ...(repairNested(others) as Fields), name: textOr(name), version: textOr(version) },
  };
}

const textOr = (value: unknown): string => (typeof value === "string" ? value : "unknown");

const cursorOf = (cursor: unknown): Fields =>
  cursor === null || cursor === undefined
    ? {}
    : { nextCursor: typeof cursor === "string" ? cursor : JSON.stringify(cursor) };

/** Leaves the fields out that are null, also in inner objects: capabilities, the description of the server. */
function repairNested(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(repairNested);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(entries.map(([key, inner]) => [key, repairNested(inner)]));
}
