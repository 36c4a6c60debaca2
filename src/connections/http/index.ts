/** The HTTP client of http steps: it reaches public hosts, and private hosts that the operator has listed. */
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { Config } from "../../../schemas/config.ts";
import type { CallContext, Http, HttpResponse, HttpRequest, PartialIssue } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import { isPublicAddress } from "./addresses.ts";
import { blockedHostError, type HostResolver } from "./agent.ts";
import { ACCEPT_ENCODING, discardBody, joinHeaderValues, type RawHeaders } from "./response.ts";
import { createBodyReader } from "./body-reader.ts";
import { httpStepError } from "./errors.ts";
import { hostMatcher, type HostPort, hostPortOf, formatHostPort } from "./hosts.ts";
import type { Masker } from "../masking.ts";
import { maskedError, secretMasker } from "../secret-masker.ts";
import { ownerAgents } from "./owner-agents.ts";
import { buildHeaders, checkSecrets, encodeBody, invalidInputError, parseUrl } from "./request.ts";
import { loadSecrets } from "./secrets.ts";

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const DEFAULT_HEADERS: Readonly<Record<string, string>> = {
  accept: "*/*",
  "accept-encoding": ACCEPT_ENCODING,
  "user-agent": "millrace",
};

/**
 * @param env environment variables, which hold the secrets
 * @param options `resolve` replaces the system's DNS resolver; `mask` removes secrets from responses, by default those of
 *   the configuration
 */
export function createHttpClient(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  options: { resolve?: HostResolver; mask?: Masker } = {},
): Http & { close(): Promise<void> } {
  const isAllowed = hostMatcher(config.http.allowed_hosts);
  const secrets = loadSecrets(config, env, isAllowed);
  const mask = options.mask ?? secretMasker(config, env);
  const bodies = createBodyReader(mask);
  const agentOf = ownerAgents(isAllowed, options.resolve);

  async function send(request: HttpRequest, call: CallContext): Promise<HttpResponse> {
    const { signal } = call;
    const url = parseUrl(request.url);
    if (!(url instanceof URL)) throw invalidInputError(`url ${url.message}.`, url.fix);
    const body = encodeBody(request.body);
    const own = buildHeaders(request, url, secrets);
    const headers = {
      ...DEFAULT_HEADERS,
      ...(body !== undefined && { "content-type": body.type }),
      ...("traceparent" in own || "tracestate" in own ? {} : request.trace),
      ...own,
    };
    signal.throwIfAborted();
    try {
      const sent = { method: request.method, url, headers, body: body?.bytes };
      const checkRedirect = (redirect: Sent): void => checkSecrets(request, redirect, secrets);
      const answer = await followRedirects(agentOf(call.owner), sent, request, {
        mask,
        checkRedirect,
        signal,
      });
      const lenient = answer.statusCode < 200 || answer.statusCode >= 300;
      const { maxBytes } = request;
      return {
        status: answer.statusCode,
        headers: maskedHeaders(answer.headers, mask),
        body: await bodies.read(answer.body, answer.headers, { maxBytes, lenient }, call),
      };
    } catch (error) {
      // The reason why the step was stopped is more useful than the resulting network error.
      signal.throwIfAborted();
      throw maskedError(httpStepError(error, formatHostPort(hostPortOf(url))), mask);
    }
  }

  return {
    check: ({ url: text, method, secrets: sent }) => {
      const url = text === null ? null : parseUrl(text);
      const known = url instanceof URL ? url : null;
      return [
        ...(url === null || url instanceof URL ? [] : [{ path: ["url"], ...url }]),
        ...(known === null ? [] : privateIssues(hostPortOf(known), isAllowed)),
        ...sent.flatMap(({ name, header }, index): PartialIssue[] => {
          const issue = secrets.issue(name, { url: known, method, header });
          return issue === undefined ? [] : [{ path: ["secrets", index], ...issue }];
        }),
      ];
    },
    secrets: secrets.list,
    send,
    close: () => bodies.close(),
  };
}

interface Sent {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

interface RedirectOptions {
  mask: Masker;
  /** @throws StepError when the redirect must not be followed */
  checkRedirect(redirect: Sent): void;
  signal: AbortSignal;
}

/** Sends a request and follows redirects within the same origin. */
async function followRedirects(
  agent: Dispatcher,
  first: Sent,
  request: HttpRequest,
  { mask, checkRedirect, signal }: RedirectOptions,
): Promise<{ statusCode: number; headers: RawHeaders; body: Readable }> {
  let sent = first;
  for (let redirects = 0; ; redirects += 1) {
    const { method, url, headers, body } = sent;
    const answer = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers,
      body: body ?? null,
      signal,
    });
    const target = redirectOf(answer.statusCode, answer.headers, url);
    if (target === undefined || request.acceptStatus?.includes(answer.statusCode)) return answer;
    discardBody(answer.body);
    if (target.origin !== url.origin) throw otherOriginError(answer.statusCode, url, target, mask);
    if (redirects === MAX_REDIRECTS)
      throw new StepError("http_failed", `${url.host} redirected more than ${MAX_REDIRECTS} times.`, {
        fix: "Call the final URL directly. If the redirects form a loop, a login may be missing.",
        transient: false,
      });
    sent = redirected(sent, answer.statusCode, target);
    checkRedirect(sent);
  }
}

function redirectOf(status: number, headers: RawHeaders, from: URL): URL | undefined {
  const location = joinHeaderValues(headers["location"]);
  return REDIRECTS.has(status) && location !== "" ? (URL.parse(location, from.href) ?? undefined) : undefined;
}

/** RFC 9110 §15.4: 303 changes the method to GET, and so do 301 and 302 after a POST; 307 and 308 keep it. */
function redirected(sent: Sent, status: number, url: URL): Sent {
  const toGet =
    (status === 303 && sent.method !== "HEAD") ||
    ((status === 301 || status === 302) && sent.method === "POST");
  if (!toGet) return { ...sent, url };
  const headers = Object.fromEntries(
    Object.entries(sent.headers).filter(([name]) => !name.startsWith("content-")),
  );
  return { method: "GET", url, headers, body: undefined };
}

function otherOriginError(status: number, from: URL, target: URL, mask: Masker): StepError {
  // Without the query, which may contain a key for this request.
  const to = mask.text(`${target.origin}${target.pathname}`).slice(0, 500);
  return new StepError(
    "http_blocked",
    `${from.host} answered ${status} and redirects to another origin, ${to}, which is not followed.`,
    {
      fix: `If you trust that address, use it as url. Or add ${status} to accept_status and read headers.location.`,
      details: { status, location: to },
    },
  );
}

/** Issues of hosts that are private without a DNS lookup. */
function privateIssues(place: HostPort, isAllowed: (place: HostPort) => boolean): PartialIssue[] {
  const isPrivate =
    isIP(place.host) === 0 ? /(^|\.)localhost$/.test(place.host) : !isPublicAddress(place.host);
  if (!isPrivate || isAllowed(place)) return [];
  const { options } = blockedHostError(place);
  const message = `is ${formatHostPort(place)}, in a private network, which workflows must not call`;
  return [
    { path: ["url"], code: "private_host", message, ...(options.fix !== undefined && { fix: options.fix }) },
  ];
}

const maskedHeaders = (headers: RawHeaders, mask: Masker): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [mask.text(name), mask.text(joinHeaderValues(value))]),
  );
