/** Which types of response a client takes (RFC 9110, section 12.5.1), and answers in the one that it takes. */
import { isEventStream } from "./http-messages.ts";

export interface AcceptedTypes {
  json: boolean;
  events: boolean;
}

interface MediaRange {
  range: string;
  quality: number;
}

const JSON_TYPE = "application/json";
const EVENT_STREAM = "text/event-stream";

/** A part of a list whose quoted strings can contain commas. */
const LIST_PART = /(?:[^,"]|"(?:\\.|[^"\\])*")+/g;
const QUALITY = /^\s*q\s*=\s*([\d.]+)\s*$/i;

/** @param header undefined or empty for a client that takes everything */
export function acceptedTypes(header: string | undefined): AcceptedTypes {
  const ranges = (header?.match(LIST_PART) ?? []).flatMap(toRange);
  if (ranges.length === 0) return { json: true, events: true };
  return { json: takes(ranges, JSON_TYPE), events: takes(ranges, EVENT_STREAM) };
}

function toRange(part: string): MediaRange[] {
  const [range = "", ...parameters] = part.split(";");
  if (range.trim() === "") return [];
  const written = parameters.flatMap((parameter) => QUALITY.exec(parameter)?.[1] ?? [])[0];
  const quality = Number(written ?? 1);
  return [{ range: range.trim().toLowerCase(), quality: Number.isNaN(quality) ? 1 : quality }];
}

/** The most specific range decides: `text/event-stream;q=0, text/*` takes no event stream. */
function takes(ranges: readonly MediaRange[], type: string): boolean {
  for (const range of [type, `${type.split("/")[0]}/*`, "*/*"]) {
    const matching = ranges.filter((each) => each.range === range);
    if (matching.length > 0) return matching.some(({ quality }) => quality > 0);
  }
  return false;
}

/** Code of JSON-RPC errors that the transport makes, as in the SDK. */
const TRANSPORT_ERROR = -32_000;
/** Maximum length of a header in a message, in characters. */
const MAX_SHOWN = 100;

/**
 * Refuses a request whose client takes no type of its response.
 * @param header the `Accept` header
 * @param id that of the JSON-RPC request; null where there is none
 * @param isStream whether the response can only be an event stream
 */
export function notAcceptable(header: string, id: string | number | null, isStream: boolean): Response {
  const type = isStream ? EVENT_STREAM : `${JSON_TYPE} or ${EVENT_STREAM}`;
  const message =
    `The response is ${type}, which the Accept header excludes (${header.slice(0, MAX_SHOWN)}). ` +
    `Send Accept: ${JSON_TYPE}, ${EVENT_STREAM}.`;
  const error = { code: TRANSPORT_ERROR, message };
  return Response.json({ jsonrpc: "2.0", error, id }, { status: 406 });
}

/**
 * Converts a response to a type that the client takes. As JSON it has the answer alone: notifications before it are left out.
 * Errors of the transport stay JSON.
 * @param id that of the request
 */
export async function inAcceptedType(
  response: Response,
  accepted: AcceptedTypes,
  id: unknown,
): Promise<Response> {
  if (isEventStream(response)) return accepted.events ? response : asJson(response, id);
  const isMessage = response.ok && response.headers.get("content-type")?.startsWith(JSON_TYPE) === true;
  return accepted.json || !isMessage ? response : asEvents(response);
}

async function asJson(response: Response, id: unknown): Promise<Response> {
  const events = (await response.text()).split("\n\n");
  const answers = events.map(dataOf).filter((data) => data !== "" && isAnswer(JSON.parse(data), id));
  const answer = answers.at(-1);
  const headers = sessionOf(response);
  // A cancelled request gets no answer.
  if (answer === undefined) return new Response(null, { status: 202, headers });
  return new Response(answer, {
    status: response.status,
    headers: { ...headers, "Content-Type": JSON_TYPE },
  });
}

const dataOf = (event: string): string =>
  event
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trimStart())
    .join("\n");

const isAnswer = (message: unknown, id: unknown): boolean =>
  (message as { id?: unknown }).id === id && (message as { method?: unknown }).method === undefined;

async function asEvents(response: Response): Promise<Response> {
  const body = `event: message\ndata: ${await response.text()}\n\n`;
  const headers = {
    ...sessionOf(response),
    "Content-Type": EVENT_STREAM,
    "Cache-Control": "no-cache, no-transform",
  };
  return new Response(body, { status: response.status, headers });
}

const sessionOf = ({ headers }: Response): Record<string, string> => {
  const id = headers.get("mcp-session-id");
  return id === null ? {} : { "Mcp-Session-Id": id };
};
