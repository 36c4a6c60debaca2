import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { retryAfterMs } from "../connections/http/retry-after.ts";
import { headerNameIssue } from "../connections/http/request.ts";
import type { HttpResponse, PartialIssue, SecretRef } from "../core/connections.ts";
import { ANY, mapOf, NUMBER, objectOf, STRING } from "../core/shapes.ts";
import { StepError } from "../core/step-errors.ts";
import { defineStepType, literal, template } from "../core/step-type.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const SAFE: ReadonlySet<unknown> = new Set(["GET", "HEAD", "OPTIONS"]);

const DEFAULT_BYTES = 1024 * 1024;
const MOST_BYTES = 4 * DEFAULT_BYTES;
/** So much of an unexpected answer's body goes into the error. */
const SHOWN_BODY = 1_000;

/** Beside 5xx, the statuses that may be another the next time. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429]);

const HeaderValue = z.union([
  text(8_000),
  z.strictObject({
    secret: text(63, 1).meta({
      description: "A name from the configuration's secrets.",
      example: "team_hook",
    }),
    prefix: text(100).optional().meta({ description: "What stands before it.", example: "Bearer " }),
  }),
]);

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

export const httpStep = defineStepType({
  type: "http",
  title: "Call over HTTP",
  description:
    "Sends one request. A status outside 2xx fails as http_status unless accept_status lists it. Redirects are " +
    "followed within the same origin only. body is parsed by content type: JSON becomes a value, text a string, " +
    "nothing null, anything else {media_type, base64}. The HTTP status is status_code. Secrets go by name, and only to the hosts they are for.",
  fields: {
    method: template(
      z.enum(METHODS).default("GET").meta({
        description: "The method. All but GET, HEAD and OPTIONS count as having effects.",
        example: "POST",
      }),
    ),
    url: template(
      text(8_000, 1).meta({
        description: "The whole address, https or http.",
        example: "https://api.example.com/orders/${{ inputs.order }}",
      }),
    ),
    headers: template(
      z
        .record(z.string(), HeaderValue)
        .refine((headers) => Object.keys(headers).length <= 100, { message: "must be at most 100 headers" })
        .default({})
        .meta({
          description:
            "Header names and values. A secret is {secret: its name, prefix?}. Idempotency-Key is added to calls with effects.",
          example: { Authorization: { secret: "team_hook", prefix: "Bearer " } },
        }),
    ),
    query: template(
      z
        .record(z.string(), z.union([Scalar, z.array(Scalar).max(1_000)]))
        .default({})
        .meta({
          description:
            "Parameters that are added to the URL, encoded. A list repeats one; null leaves it out.",
          example: { since: "${{ inputs.since }}", limit: 100 },
        }),
    ),
    body: template(
      z
        .unknown()
        .optional()
        .meta({
          description: "What is sent: text as it is, anything else as JSON. Left out: no body.",
          example: { text: "${{ steps.summary.text }}" },
        }),
    ),
    accept_status: literal(
      z
        .array(z.int().min(100).max(599))
        .max(100)
        .default([])
        .meta({ description: "Statuses outside 2xx that are no failure.", example: [404] }),
    ),
    max_bytes: literal(
      z.int().min(1).max(MOST_BYTES).default(DEFAULT_BYTES).meta({
        description: "The largest body that is taken, in bytes; 1 MiB when left out.",
        example: 2_097_152,
      }),
    ),
  },
  example: {
    id: "send",
    type: "http",
    method: "POST",
    url: "https://hooks.example.com/team",
    headers: { Authorization: { secret: "team_hook", prefix: "Bearer " } },
    body: { text: "${{ steps.summary.text }}" },
    retry: { attempts: 4, backoff: "exponential", initial: "2s" },
  },
  // Not `status`: that is the step's own, as every step has it.
  output: objectOf({ status_code: NUMBER, headers: mapOf(STRING), body: ANY }),
  timeoutMs: 30_000,
  // A method that is worked out when it runs may be any.
  hasEffects: (step) => !SAFE.has(step["method"] ?? "GET"),
  resource: () => null,
  spanAttributes: () => ({}),
  check: (step, ctx) => {
    const headers = Object.entries(isRecord(step["headers"]) ? step["headers"] : {});
    const secrets = headers.flatMap(([name, value]) =>
      isRecord(value) && typeof value["secret"] === "string" && !value["secret"].includes("${{")
        ? [{ name, secret: value["secret"] }]
        : [],
    );
    const found = ctx.connections.http.check({
      url: constantUrl(step["url"]),
      secrets: secrets.map((it) => it.secret),
    });
    const issues = found.map((issue) => {
      const [part, index] = issue.path ?? [];
      const header = part === "secrets" ? secrets[Number(index)] : undefined;
      return header === undefined ? issue : placed(issue, ["headers", header.name, "secret"]);
    });
    return Promise.resolve({ issues: [...headers.flatMap(([name]) => nameIssues(name)), ...issues] });
  },
  async run({ method, url, headers, query, body, accept_status, max_bytes }, ctx) {
    const answer = await ctx.connections.http.send(
      {
        method,
        url: withQuery(url, query),
        headers: withIdempotencyKey(method, headers, ctx.idempotencyKey),
        body,
        maxBytes: max_bytes,
        acceptStatus: accept_status,
        trace: ctx.trace,
      },
      ctx.signal,
    );
    const { status } = answer;
    if ((status < 200 || status > 299) && !accept_status.includes(status))
      throw unexpected(method, url, answer, ctx.now());
    const { headers: answered, body: content } = answer;
    return { kind: "done", output: { status_code: status, headers: answered, body: content } };
  },
});

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const placed = (issue: PartialIssue, path: PropertyKey[]): PartialIssue => ({ ...issue, path });

const nameIssues = (name: string): PartialIssue[] => {
  const issue = headerNameIssue(name);
  return issue === undefined ? [] : [{ path: ["headers", name], ...issue }];
};

/**
 * What of a URL is known before it runs: all of it, or as much as stands before its first expression, if the host is
 * part of that; else null.
 */
function constantUrl(url: unknown): string | null {
  if (typeof url !== "string") return null;
  const start = url.indexOf("${{");
  if (start === -1) return url;
  return /^\s*[a-z][a-z0-9+.-]*:\/\/[^/?#]+[/?#]/i.test(url.slice(0, start)) ? url.slice(0, start) : null;
}

/** What the URL has stays as it is written: parsing and writing a query again would change its encoding. */
function withQuery(url: string, query: Readonly<Record<string, unknown>>): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== null) added.append(name, String(one));
  if (added.size === 0) return url;
  const [address, ...fragment] = url.split("#");
  const joint = !address!.includes("?") ? "?" : /[?&]$/.test(address!) ? "" : "&";
  return [`${address}${joint}${added.toString()}`, ...fragment].join("#");
}

function withIdempotencyKey(
  method: string,
  headers: Readonly<Record<string, string | SecretRef>>,
  key: string,
): Record<string, string | SecretRef> {
  const isSet = Object.keys(headers).some((name) => name.toLowerCase() === "idempotency-key");
  return SAFE.has(method) || isSet ? { ...headers } : { ...headers, "Idempotency-Key": key };
}

function unexpected(
  method: string,
  url: string,
  { status, headers, body }: HttpResponse,
  now: number,
): StepError {
  const transient = status >= 500 || TRANSIENT.has(status);
  const retryAfter = transient ? retryAfterMs(headers, now) : undefined;
  const shown = typeof body === "string" ? body : JSON.stringify(body);
  return new StepError(
    "http_status",
    `${method} ${URL.parse(url)?.host ?? ""} answered with status ${status}.`,
    {
      fix: fixFor(status, transient),
      details: { status, body: shown.slice(0, SHOWN_BODY) },
      transient,
      ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
    },
  );
}

function fixFor(status: number, transient: boolean): string {
  if (transient) return "It may go away by itself: add retry to the step.";
  if (status === 401 || status === 403) return "Check the secret in headers, and what it is allowed to do.";
  if (status < 400) return `Call the address in headers.location, or list ${status} in accept_status.`;
  return `See what it says in details.body; if ${status} is no failure here, list it in accept_status.`;
}
