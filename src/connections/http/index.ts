/** The HTTP client of http steps: it reaches the public hosts that the rules allow, and private hosts that the operator has listed. */
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { CallContext, Http, HttpResponse, HttpRequest, PartialIssue } from "../../core/connections.ts";
import { headerText, joinHeaderValues } from "../../core/header-text.ts";
import { NO_PROXIES, type OutgoingProxies } from "../../core/outgoing-proxy.ts";
import { areReplaced, type SecretSource, valuesOf } from "../../core/secret-source.ts";
import { StepError } from "../../core/step-errors.ts";
import type { HostResolver } from "./agent.ts";
import type { ReadFor } from "./parse-body.ts";
import { ACCEPT_ENCODING, discardBody, hasNoBody } from "./response.ts";
import { type RawHeaders, responseHeaders } from "./response-headers.ts";
import { createBodyReader } from "./body-reader.ts";
import { httpStepError } from "./errors.ts";
import { hostPortOf, formatHostPort } from "../../core/host-patterns.ts";
import type { ConnectionConfig } from "../limit-config.ts";
import type { Masker } from "../masking.ts";
import { maskedError, secretMasker } from "../secret-masker.ts";
import { ownerAgents } from "./owner-agents.ts";
import { withFormText } from "./form-body.ts";
import { buildHeaders, checkSecrets, encodeBody, invalidInputError } from "./request.ts";
import { parseUrl } from "./parse-url.ts";
import { readStart } from "./response-start.ts";
import { httpRules, type HttpRules } from "./rules.ts";
import { openHttpSecrets, type Secrets } from "./secrets.ts";

const MAX_REDIRECTS = 5;
/** Methods that change nothing, so that a request can be sent again. */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const DEFAULT_HEADERS: Readonly<Record<string, string>> = {
  accept: "*/*",
  "accept-encoding": ACCEPT_ENCODING,
  "user-agent": "millrace",
};

type HttpConfig = Pick<ConnectionConfig, "http" | "httpPolicy" | "secrets" | "unusable" | "isLimited">;

export interface SharedHttp extends Http {
  /** A client for a part of the configuration. Its requests have the policy of that part. */
  limitedTo(config: HttpConfig): Http;
  close(): Promise<void>;
}

/**
 * @param source the values of the secrets, which can change
 * @param options `resolve` replaces the system's DNS resolver; `mask` removes secrets from responses, by default those of
 *   the configuration; `proxies`: the outgoing proxies, by default none
 */
export function createHttpClient(
  config: HttpConfig,
  source: SecretSource,
  options: { resolve?: HostResolver; mask?: Masker; proxies?: OutgoingProxies } = {},
): SharedHttp {
  const { proxies = NO_PROXIES } = options;
  const rulesOf = httpRules(config.http, proxies);
  const mask = options.mask ?? secretMasker(config, source);
  const bodies = createBodyReader(mask);
  const agentOf = ownerAgents({ proxies, proxyResolves: config.http.proxy_resolves }, options.resolve);

  async function send(secrets: Secrets, request: HttpRequest, call: CallContext): Promise<HttpResponse> {
    const { signal } = call;
    const rules = rulesOf(request.policy);
    const variables = secrets.variablesOf([
      ...(typeof request.url === "string" ? [] : [request.url.secret]),
      ...Object.values(request.headers).flatMap((value) => (typeof value === "string" ? [] : value.secret)),
    ]);
    if (variables.length > 0) await source.load(variables);
    const url = urlOf(secrets, request, rules);
    const body = encodeBody(withFormText(request));
    const ask = (): ReturnType<typeof followRedirects> => {
      const own = buildHeaders(request, url, secrets, rules);
      const headers = {
        ...DEFAULT_HEADERS,
        ...(body !== undefined && { "content-type": body.type }),
        ...("traceparent" in own || "tracestate" in own ? {} : request.trace),
        ...own,
      };
      const sent = { method: request.method, url, headers, body: body?.bytes };
      const checkRedirect = (redirect: Sent): void => checkSecrets(request, redirect, secrets, rules);
      return followRedirects(agentOf(call.owner, rules), sent, request, { mask, checkRedirect, signal });
    };
    const used = valuesOf(source, variables);
    signal.throwIfAborted();
    try {
      let answer = await ask();
      if (answer.statusCode === 401 && variables.length > 0) {
        const replaced = areReplaced(source, used, signal);
        // Another request could repeat an effect, so only the next attempt of the step gets the new value.
        if (SAFE_METHODS.has(request.method) && (await replaced)) {
          discardBody(answer.body);
          answer = await ask();
        }
      }
      return {
        status: answer.statusCode,
        headers: responseHeaders(answer.headers, mask),
        body: request.onlyStart
          ? await readStart(answer.body, answer.headers, request.maxBytes, mask)
          : await bodyOf(answer, request, call),
      };
    } catch (error) {
      // The reason why the step was stopped is more useful than the resulting network error.
      signal.throwIfAborted();
      throw maskedError(httpStepError(error, formatHostPort(hostPortOf(url))), mask);
    }
  }

  async function bodyOf(answer: Answer, request: HttpRequest, call: CallContext): Promise<unknown> {
    const { statusCode, headers, body } = answer;
    const readFor = purposeOf(statusCode, request);
    const { maxBytes, format = {} } = request;
    if (hasNoBody(answer.method, statusCode)) {
      discardBody(body);
      return bodies.empty(headers, { format, readFor });
    }
    const read = bodies.read(body, headers, { maxBytes, format, readFor }, call);
    // The status is what counts, and a body that can't be read must not hide it.
    if (readFor !== "display") return read;
    return read.catch(() => {
      call.signal.throwIfAborted();
      return null;
    });
  }

  function check(
    secrets: Secrets,
    { url: text, method, secrets: sent, policy }: Parameters<Http["check"]>[0],
  ): PartialIssue[] {
    const rules = rulesOf(policy);
    const named = text !== null && typeof text !== "string";
    const url = text === null ? null : named ? secrets.urlOf(text.secret, { method, rules }) : parseUrl(text);
    const known = url instanceof URL ? url : null;
    return [
      ...(url === null || url instanceof URL ? [] : [{ path: ["url"], ...url }]),
      ...(known === null ? [] : hostIssues(known, rules)),
      ...sent.flatMap(({ name, header }, index): PartialIssue[] => {
        const issue = secrets.issue(name, { url: known, method, header, rules });
        return issue === undefined ? [] : [{ path: ["secrets", index], ...issue }];
      }),
    ];
  }

  function front(limited: HttpConfig): Http {
    const secrets = openHttpSecrets(limited, source);
    const { httpPolicy: policy } = limited;
    const withPolicy = <T extends object>(request: T): T =>
      policy === undefined ? request : { ...request, policy };
    return {
      check: (request) => check(secrets, withPolicy(request)),
      secrets: secrets.list,
      send: (request, call) => send(secrets, withPolicy(request), call),
    };
  }
  return { ...front(config), limitedTo: front, close: () => bodies.close() };
}

/** The URL to call. @throws StepError input_invalid, environment, http_blocked */
function urlOf(
  secrets: Secrets,
  { url: asked, method }: Pick<HttpRequest, "url" | "method">,
  rules: HttpRules,
): URL {
  const isSecret = typeof asked !== "string";
  const url = isSecret ? secrets.urlOf(asked.secret, { method, rules }) : parseUrl(asked);
  if (url instanceof URL) return url;
  if (!isSecret) throw invalidInputError(`url ${url.message}.`, url.fix);
  throw new StepError("environment", `The secret "${asked.secret.slice(0, 100)}" ${url.message}.`, {
    ...(url.fix !== undefined && { fix: url.fix }),
  });
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

function purposeOf(status: number, { acceptStatus }: HttpRequest): ReadFor {
  if (status >= 200 && status < 300) return "data";
  return acceptStatus?.includes(status) === true ? "page" : "display";
}

interface Answer {
  /** The method of the last request. */
  method: string;
  statusCode: number;
  headers: RawHeaders;
  body: Readable;
}

/** Sends a request and follows redirects within the same origin. */
async function followRedirects(
  agent: Dispatcher,
  first: Sent,
  request: HttpRequest,
  { mask, checkRedirect, signal }: RedirectOptions,
): Promise<Answer> {
  let sent = first;
  for (let redirects = 0; ; redirects += 1) {
    const { method, url, headers, body } = sent;
    const {
      statusCode,
      headers: received,
      body: content,
    } = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers,
      body: body ?? null,
      signal,
    });
    const target = redirectOf(statusCode, received, url);
    if (target === undefined || request.acceptStatus?.includes(statusCode))
      return { method, statusCode, headers: received, body: content };
    discardBody(content);
    if (target.origin !== url.origin) throw otherOriginError(statusCode, url, target, mask);
    if (redirects === MAX_REDIRECTS)
      throw new StepError("http_failed", `${url.host} redirected more than ${MAX_REDIRECTS} times.`, {
        fix: "Call the final URL directly. If the redirects form a loop, a login may be missing.",
        transient: false,
      });
    sent = redirected(sent, statusCode, target);
    checkRedirect(sent);
  }
}

function redirectOf(status: number, headers: RawHeaders, from: URL): URL | undefined {
  const location = headerText(joinHeaderValues(headers["location"]));
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

/** Issues of a host that must not be called, as far as they are known without a DNS lookup. */
function hostIssues(url: URL, rules: HttpRules): PartialIssue[] {
  const place = hostPortOf(url);
  const refusal = rules.refusal(place);
  if (refusal === undefined) return [];
  const { code, clause, fix } = refusal;
  return [{ path: ["url"], code, message: `is ${formatHostPort(place)}, ${clause}`, fix }];
}
