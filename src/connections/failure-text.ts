/** Reads the messages of failures that servers, frameworks and proxies report, each in a format of its own. */

type Fields = Readonly<Record<string, unknown>>;

/** Maximum length of the part of a text that a message is taken from, in characters. */
const MAX_READ_CHARS = 10_000;
/** Maximum length of a message, in characters. */
const MAX_MESSAGE_CHARS = 1_000;
/** Maximum number of messages of one body. */
const MAX_MESSAGES = 3;
/** Maximum nesting of the fields that messages are taken from. */
const MAX_NESTING = 3;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Fields with a message, the most telling first. */
const MESSAGE_FIELDS = [
  "message",
  "msg",
  "error_description",
  "detail",
  "error",
  "errors",
  "title",
  "reason",
];

/** The messages of an error in one of the forms that vendors, frameworks and gateways use. */
function messagesIn(value: unknown, nesting: number): string[] {
  if (typeof value === "string") return [describeText(value)].filter((message) => message !== "");
  if (nesting > MAX_NESTING) return [];
  if (Array.isArray(value))
    return value.slice(0, MAX_MESSAGES).flatMap((item) => messagesIn(item, nesting + 1));
  if (!isObject(value)) return [];
  const field = MESSAGE_FIELDS.find((name) => messagesIn(value[name], nesting + 1).length > 0);
  const messages = field === undefined ? [] : messagesIn(value[field], nesting + 1);
  const place = Array.isArray(value["loc"]) ? `${value["loc"].map(String).join(".").slice(0, 100)}: ` : "";
  const behind = isObject(value["metadata"]) ? messagesOfVendorBehind(value["metadata"], nesting) : [];
  return [...messages.map((message) => place + message), ...behind];
}

/** OpenRouter says "Provider returned error" and passes on what that provider sent, as JSON or as text. */
function messagesOfVendorBehind({ provider_name: name, raw }: Fields, nesting: number): string[] {
  if (typeof raw !== "string" && !isObject(raw)) return [];
  const parsed = typeof raw === "string" ? parsedJson(raw) : raw;
  const messages = messagesIn(isObject(parsed) ? parsed : raw, nesting + 1);
  return messages.map((message) => (typeof name === "string" ? `${name}: ${message}` : message));
}

/** The messages of an error, or of a whole body, in one line; "" for none. */
export const messageOf = (value: unknown): string =>
  [...new Set(messagesIn(value, 0))].slice(0, MAX_MESSAGES).join("; ");

/** Returns the message of a body of a failure, in one line, whatever its format; "" for none. */
export function describeFailure(body: string): string {
  const parsed = parsedJson(body);
  return parsed === undefined ? describeText(body) : messageOf(parsed);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A text in one line; of an HTML page only the title. */
export function describeText(text: string): string {
  const start = text.trim().slice(0, MAX_READ_CHARS);
  if (!/^<(?:!doctype|html|head|body|\?xml)/i.test(start))
    return start.replaceAll(/\s+/g, " ").slice(0, MAX_MESSAGE_CHARS).toWellFormed();
  const title = /<title[^>]*>([^<]{1,200})/i.exec(start)?.[1]?.replaceAll(/\s+/g, " ").trim();
  return title === undefined || title === ""
    ? "an HTML page without a title"
    : `an HTML page with the title "${title}"`;
}
