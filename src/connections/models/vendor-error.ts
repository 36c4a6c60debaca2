/** Reads what a vendor, or a proxy in front of it, says about a failure: also one in a response with status 200. */
import { describeText, messageOf } from "../failure-text.ts";
import { retryAfterMs } from "../http/retry-after.ts";

/** A response of a vendor with its whole body. */
export interface VendorResponse {
  status: number;
  /** With names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface VendorError {
  /** The status of the failure; undefined if a response with status 200 contains an error of an unknown kind. */
  status: number | undefined;
  /** The message of the vendor, in one line. */
  message: string;
  /** How long the vendor asks to wait, in milliseconds. */
  waitMs: number | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** Names of errors in the vendors' documentation, with the status that the vendor sends for them otherwise. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  bad_request: 400,
  content_filter: 400,
  context_length_exceeded: 400,
  failed_precondition: 400,
  invalid_argument: 400,
  invalid_prompt: 400,
  invalid_request_error: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  unauthenticated: 401,
  billing_error: 402,
  permission_denied: 403,
  permission_error: 403,
  model_not_found: 404,
  not_found: 404,
  not_found_error: 404,
  request_too_large: 413,
  insufficient_quota: 429,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  resource_exhausted: 429,
  too_many_requests: 429,
  api_error: 500,
  internal: 500,
  internal_error: 500,
  internal_server_error: 500,
  server_error: 500,
  service_unavailable: 503,
  unavailable: 503,
  deadline_exceeded: 504,
  timeout: 504,
  timeout_error: 504,
  overloaded_error: 529,
};

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns the failure of a response; undefined if it has none.
 * @param now time in milliseconds, for a `Retry-After` with a date
 */
export function vendorErrorOf(response: VendorResponse, now: number): VendorError | undefined {
  const { status, headers, body } = response;
  const isFailure = status < 200 || status >= 300;
  const parsed = parseBody(response);
  const error = errorIn(parsed);
  if (!isFailure && error === undefined) return undefined;
  const waitMs = retryAfterMs(headers, now) ?? waitIn(error, headers, now);
  const message = parsed === undefined ? describeText(body) : messageOf(error) || messageOf(parsed);
  return { status: isFailure ? status : statusOf(error), message, waitMs };
}

/** Describes a response that is not what the vendor's API sends, in words that follow "it is" and the like. */
export function describeBody(response: VendorResponse): string {
  const parsed = parseBody(response);
  if (parsed === undefined) return describeText(response.body) || "it is empty";
  if (!isObject(parsed)) return "it is JSON, but not an object";
  const said = messageOf(parsed);
  return `${describeFields(parsed)}${said === "" ? "" : `, and it says: ${said}`}`;
}

function describeFields(parsed: Fields): string {
  const empty = Object.keys(parsed).find((key) => Array.isArray(parsed[key]) && parsed[key].length === 0);
  if (empty !== undefined) return `its ${empty.slice(0, 50)} is an empty list`;
  return `it is an object with the fields ${Object.keys(parsed).join(", ").slice(0, 200) || "(none)"}`;
}

function parseBody({ headers, body }: VendorResponse): unknown {
  const text = body.trim();
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
  // A proxy may send the stream that nobody asked for: its error is in an event.
  const candidates = isStream
    ? [...text.matchAll(/^data:(.*"error".*)$/gm)].map(([, data]) => data!)
    : [text];
  for (const candidate of candidates)
    try {
      return JSON.parse(candidate) as unknown;
    } catch {
      // The next one, or none.
    }
  return undefined;
}

/** The `error` of a response, of its first alternative, or of a list that some vendors send instead. */
function errorIn(body: unknown): unknown {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  if (!isObject(outer)) return undefined;
  const choices = Array.isArray(outer["choices"]) ? (outer["choices"] as unknown[]) : [];
  const places = [outer, ...choices.slice(0, 1)];
  const found = places
    .map((place) => (isObject(place) ? place["error"] : undefined))
    .find((error) => (isObject(error) || typeof error === "string") && !isBlank(error));
  return found ?? (outer["object"] === "error" ? outer : undefined);
}

/** Maximum nesting of an error that says nothing. */
const MAX_BLANK_NESTING = 5;

/** Whether an error says nothing: some servers send an empty one with each answer. */
function isBlank(value: unknown, nesting = 0): boolean {
  if (typeof value === "string") return value.trim() === "";
  if (typeof value === "object" && value !== null)
    return nesting < MAX_BLANK_NESTING && Object.values(value).every((inner) => isBlank(inner, nesting + 1));
  return value === null || value === 0 || value === false;
}

function statusOf(error: unknown): number | undefined {
  if (!isObject(error)) return undefined;
  const named = ["code", "status", "status_code", "statusCode", "type"].map((name) => error[name]);
  const statuses = named.map((value) =>
    typeof value === "string" && !/^\d{3}$/.test(value)
      ? STATUS_BY_NAME[value.toLowerCase()]
      : Number(value ?? 0),
  );
  return statuses.find((value) => value !== undefined && value >= 400 && value <= 599);
}

/** OpenRouter repeats the headers of the vendor behind it in the error, and Google names a delay (`google.rpc.RetryInfo`). */
function waitIn(error: unknown, { date }: VendorResponse["headers"], now: number): number | undefined {
  if (!isObject(error)) return undefined;
  const { metadata, details } = error;
  const headers = isObject(metadata) && isObject(metadata["headers"]) ? metadata["headers"] : {};
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  const delays = Array.isArray(details) ? details.filter(isObject).map((detail) => detail["retryDelay"]) : [];
  const seconds = delays
    .map((delay) => /^([\d.]+)s$/.exec(String(delay))?.[1])
    .find((found) => found !== undefined);
  return retryAfterMs(
    {
      ...(date !== undefined && { date }),
      ...(seconds !== undefined && { "retry-after": seconds }),
      ...Object.fromEntries(lower),
    },
    now,
  );
}
