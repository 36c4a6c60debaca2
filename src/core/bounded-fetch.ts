/** Limits on the size and the time of HTTP responses, so that a server can neither fill our memory nor keep us waiting. */

type Body = ReadableStream<Uint8Array>;

export interface ResponseLimits {
  /** Maximum size of the body, in bytes. */
  maxBytes: number;
  /** Creates the error that reading the body fails with if it is larger. */
  tooLarge: () => Error;
  /**
   * Returns the size that is compared with `maxBytes` after each chunk, in bytes. Default: the size of the body so far. A
   * stream of events, for example, limits each event instead.
   */
  count?: (chunk: Uint8Array) => number;
  /** Called when the body has ended, with or without an error. */
  onEnd?: () => void;
}

export interface FetchLimits extends ResponseLimits {
  /** Maximum time for the whole response with its body, in milliseconds. */
  timeoutMs?: number;
}

/** The part of a `Response` that is read here; that of undici's own types differs in details. */
interface ResponseLike {
  status: number;
  statusText: string;
  headers: Iterable<[string, string]>;
  body: unknown;
}

/** The Response constructor refuses a body for these (Fetch standard, "null body status"). */
const NULL_BODY_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);

/** Returns the same response with a body that fails with `tooLarge()` after `maxBytes`. */
export function limitResponse(
  { status, statusText, headers, body }: ResponseLike,
  { maxBytes, tooLarge, count = byteCounter(), onEnd }: ResponseLimits,
): Response {
  const init = { status, statusText, headers: [...headers] };
  if (body === null || NULL_BODY_STATUSES.has(status)) return new Response(null, init);
  const guard = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (count(chunk) > maxBytes) throw tooLarge();
      controller.enqueue(chunk);
    },
  });
  const ended = (body as Body).pipeTo(guard.writable).catch(() => undefined);
  if (onEnd !== undefined) void ended.then(onEnd);
  return new Response(guard.readable, init);
}

/**
 * Fetches a URL within limits.
 * @param fetchUrl the global `fetch`, or one with the same parameters
 * @throws what `fetchUrl` throws; a TimeoutError after `timeoutMs`, also while the body is read
 */
export async function boundedFetch(
  fetchUrl: typeof fetch,
  url: string | URL,
  init: RequestInit,
  { timeoutMs, ...limits }: FetchLimits,
): Promise<Response> {
  const signals = [init.signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)];
  const present = signals.filter((signal) => signal !== undefined && signal !== null);
  const response = await fetchUrl(
    url,
    present.length === 0 ? init : { ...init, signal: AbortSignal.any(present) },
  );
  return limitResponse(response, limits);
}

function byteCounter(): (chunk: Uint8Array) => number {
  let size = 0;
  return (chunk) => (size += chunk.byteLength);
}
