import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { charsetIssue } from "../core/charset.ts";
import { SECOND } from "../core/clock.ts";
import { isUnansweredStatus } from "../connections/was-sent.ts";
import { retryAfterMs } from "../connections/http/retry-after.ts";
import { formIssues } from "../connections/http/form-body.ts";
import { headerNameIssue } from "../connections/http/request.ts";
import type { HttpResponse, PartialIssue, SecretRef } from "../core/connections.ts";
import { csvOptionsIssue } from "../core/csv.ts";
import { encodeJson } from "../core/encoded-json.ts";
import { formatPath } from "../core/issues.ts";
import {
  ANY,
  listOf,
  mapOf,
  nullable,
  NUMBER,
  objectOf,
  openObjectOf,
  type Shape,
  STRING,
} from "../core/shapes.ts";
import { StepError } from "../core/step-errors.ts";
import { defineStepType, literal, template, type UnresolvedStep, urlTemplate } from "../core/step-type.ts";
import { assertWellFormed } from "../core/well-formed.ts";
import { asWritten } from "./as-written.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
/** Methods without effects. */
const SAFE: ReadonlySet<unknown> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Headers with which a server may execute another method than that of the request. */
const METHOD_OVERRIDE = /^x-(?:http-)?method(?:-override)?$/i;
const overridesMethod = (headers: unknown): boolean =>
  typeof headers === "object" &&
  headers !== null &&
  Object.keys(headers).some((name) => METHOD_OVERRIDE.test(name));

/** Whether a request may have effects. A method that an expression computes may. */
const mayHaveEffects = (method: unknown, headers: unknown): boolean =>
  !SAFE.has(method) || overridesMethod(headers);

/** Default maximum size of a response body, in bytes. */
const DEFAULT_BYTES = 1024 * 1024;
/** Largest maximum size that a step can set, in bytes. */
const MAX_BYTES = 4 * DEFAULT_BYTES;
/** Maximum length of the response body in an error, in characters. */
const MAX_BODY_CHARS = 1_000;

/** Statuses other than 5xx after which a retry may succeed. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429]);

const HeaderValue = z.union([
  text(8_000),
  z.number(),
  z.boolean(),
  z.strictObject({
    secret: text(63, 1).meta({
      description: "A name from the configuration's secrets.",
      example: "team_hook",
    }),
    prefix: text(100).optional().meta({ description: "Text before the secret.", example: "Bearer " }),
  }),
]);

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

export const httpStep = defineStepType({
  type: "http",
  title: "Send an HTTP request",
  description:
    "Sends one request. A status outside 2xx fails with http_status unless accept_status lists it. Redirects are " +
    "followed within the same origin only. body is parsed by content type, or as parse says: JSON becomes a value, text stays text, " +
    "an empty body null, anything else {media_type, base64}. The HTTP status is status_code. Secrets are referred to by name and sent only to the hosts they are configured for.",
  fields: {
    method: template(
      z.enum(METHODS).default("GET").meta({
        description: "The method. All but GET, HEAD and OPTIONS count as having effects.",
        example: "POST",
      }),
    ),
    url: urlTemplate(
      text(8_000, 1).meta({
        description:
          "The absolute URL, https or http. Values inside it are percent-encoded; raw(x) inserts x as it is.",
        example: "https://api.example.com/orders/${{ inputs.order }}",
      }),
    ),
    headers: template(
      z
        .record(z.string(), HeaderValue)
        .refine((headers) => Object.keys(headers).length <= 100, { message: "must have at most 100 headers" })
        .default({})
        .meta({
          description:
            "Header names and values. A secret is {secret: its name, prefix?}. Requests with effects also get an Idempotency-Key.",
          example: { Authorization: { secret: "team_hook", prefix: "Bearer " } },
        }),
    ),
    query: template(
      z
        .record(z.string(), z.union([Scalar, z.array(Scalar).max(1_000)]))
        .default({})
        .meta({
          description:
            "Query parameters added to the URL, encoded. A list repeats the parameter; null omits it.",
          example: { since: "${{ inputs.since }}", limit: 100 },
        }),
    ),
    body: template(
      z
        .unknown()
        .optional()
        .meta({
          description:
            "The request body: text unchanged, an object as a form if the header Content-Type says so (a list repeats the field, null omits it), any other value as JSON. Default: no body.",
          example: { text: "${{ steps.summary.text }}" },
        }),
    ),
    accept_status: literal(
      z
        .array(z.int().min(100).max(599))
        .max(100)
        .default([])
        .meta({ description: "Statuses outside 2xx that are not a failure.", example: [404] }),
    ),
    parse: literal(
      z.enum(["json", "csv", "text", "base64"]).optional().meta({
        description: "How to read body, whatever its content type. csv gives rows as parse_csv does.",
        example: "json",
      }),
    ),
    csv: literal(
      z
        .strictObject({
          header: z.boolean().optional().meta({ description: "Default: true.", example: false }),
          separator: z.string().optional().meta({ description: 'Default: ",".', example: ";" }),
          ragged: z
            .enum(["error", "pad"])
            .optional()
            .meta({ description: "Default: error.", example: "pad" }),
        })
        .check(({ value, issues }) => {
          const issue = csvOptionsIssue(value);
          if (issue === undefined) return;
          const { message, fix } = issue;
          issues.push({ code: "custom", params: { code: "not_allowed", fix }, message, input: value });
        })
        .optional()
        .meta({ description: "Options of parse_csv, for parse: csv.", example: { separator: ";" } }),
    ),
    charset: literal(
      text(40, 1)
        .check(({ value, issues }) => {
          const issue = charsetIssue(value);
          if (issue === undefined) return;
          const { message, ...params } = issue;
          issues.push({ code: "custom", params, message, continue: true, input: value });
        })
        .optional()
        .meta({
          description:
            "The charset of body, instead of the declared one. Bytes that are not valid in it are an error.",
          example: "windows-1252",
        }),
    ),
    max_bytes: literal(
      z.int().min(1).max(MAX_BYTES).default(DEFAULT_BYTES).meta({
        description: "Maximum size of the response body, in bytes. Default: 1 MiB.",
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
  // Not `status`, which is the status of the step.
  output: outputWith(ANY),
  timeoutMs: 30_000,
  hasEffects: ({ method = "GET", headers = {} }) => mayHaveEffects(method, headers),
  resource: () => null,
  canLookUp: "without_effects",
  sendsIdempotencyKey: true,
  effectTarget: ({ url }) => {
    const constant = constantUrl(url);
    return constant === null ? null : { url: constant };
  },
  describeEffect: ({ method = "GET", url, headers }) => {
    const constant = constantUrl(url);
    const target = asWritten(constant === null ? url : (URL.parse(constant)?.host ?? url));
    const names = secretNames(headers);
    return {
      words:
        `Sends ${asWritten(method)} to ${target}` +
        (names.length === 0 ? "" : `, with the secret ${names.map(asWritten).join(", ")}`),
      does: mayHaveEffects(method, headers) ? "sends" : "reads",
      targets: [target],
    };
  },
  // A header that an expression computes can name any secret.
  configurationEntries: ({ headers = {} }) => [
    "http",
    ...(JSON.stringify(headers).includes("${{") ? ["secrets"] : []),
    ...secretNames(headers).map((name) => `secret:${name}`),
  ],
  spanAttributes: () => ({}),
  async secretUses({ method, url, headers }, { http }) {
    const host = URL.parse(url)?.host;
    const sent = Object.entries(headers).flatMap(([header, value]) =>
      typeof value === "object" ? [{ name: value.secret, header }] : [],
    );
    if (host === undefined || sent.length === 0) return [];
    // A redirect to another host is not followed, and what may not be sent is not used.
    const issues = await http.check({ url, method, secrets: sent });
    const refused = new Set(issues.map(({ path: [part, index] = [] }) => (part === "secrets" ? index : -1)));
    if (refused.has(-1)) return [];
    const names = sent.filter((_, index) => !refused.has(index)).map(({ name }) => name);
    return [...new Set(names)].map((secret) => ({ secret, host }));
  },
  async check(step, ctx) {
    const headers = Object.entries(isRecord(step["headers"]) ? step["headers"] : {});
    const secrets = headers.flatMap(([name, value]) =>
      isRecord(value) && typeof value["secret"] === "string" && !value["secret"].includes("${{")
        ? [{ name, secret: value["secret"] }]
        : [],
    );
    const found = await ctx.connections.http.check({
      url: constantUrl(step["url"]),
      method: constantMethod(step["method"]),
      secrets: secrets.map(({ name: header, secret: name }) => ({ name, header })),
    });
    const issues = found.map((issue) => {
      const [part, index] = issue.path ?? [];
      const header = part === "secrets" ? secrets[Number(index)] : undefined;
      return header === undefined ? issue : withPath(issue, ["headers", header.name, "secret"]);
    });
    const written = formIssues(Object.fromEntries(headers), step["body"]);
    return {
      issues: [
        ...headers.flatMap(([name]) => nameIssues(name)),
        ...written,
        ...issues,
        ...formatIssues(step),
      ],
      output: outputWith(bodyShape(step)),
    };
  },
  async run({ method, url, headers, query, body, accept_status, max_bytes, parse, csv, charset }, ctx) {
    const response = await ctx.connections.http.send(
      {
        method,
        url: withQuery(url, query),
        headers: withIdempotencyKey(method, headerTexts(headers), ctx.idempotencyKey),
        body,
        format: { parse, csv, charset },
        maxBytes: max_bytes,
        acceptStatus: accept_status,
        trace: ctx.trace,
      },
      ctx,
    );
    const { status } = response;
    if (!isSuccess(status) && !accept_status.includes(status))
      throw unexpectedStatus(method, url, response, ctx.now());
    return { kind: "done", output: { status_code: status, headers: response.headers, body: response.body } };
  },
});

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

function outputWith(body: Shape): Shape {
  const headers = openObjectOf({ "set-cookie": listOf(STRING) }, STRING);
  return objectOf({ status_code: NUMBER, headers, body });
}

/** The shape of the body as far as `parse` says it: an accepted status outside 2xx may have another kind of document. */
function bodyShape({ parse, csv, accept_status: accepted = [] }: UnresolvedStep): Shape {
  if ((accepted as number[]).some((status) => !isSuccess(status))) return ANY;
  switch (parse) {
    case "csv": {
      const { header, ragged } = isRecord(csv) ? csv : {};
      const value = ragged === "pad" ? nullable(STRING) : STRING;
      return listOf(header === false ? listOf(value) : mapOf(value));
    }
    case "text":
      return STRING;
    case "base64":
      return objectOf({ media_type: STRING, base64: STRING });
    default:
      return ANY;
  }
}

/** Reports options that have no effect. */
function formatIssues({ parse, csv, charset }: UnresolvedStep): PartialIssue[] {
  const issues: PartialIssue[] = [];
  const code = "not_allowed";
  if (csv !== undefined && parse !== "csv") {
    const fix = "Set parse: csv, or remove csv.";
    issues.push({ path: ["csv"], code, message: "has an effect with parse: csv only", fix });
  }
  if (charset !== undefined && parse === "base64") {
    const message = "has no effect with parse: base64, which returns bytes";
    issues.push({ path: ["charset"], code, message, fix: "Set parse: text, or remove charset." });
  }
  return issues;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const withPath = (issue: PartialIssue, path: PropertyKey[]): PartialIssue => ({ ...issue, path });

const nameIssues = (name: string): PartialIssue[] => {
  const issue = headerNameIssue(name);
  return issue === undefined ? [] : [{ path: ["headers", name], ...issue }];
};

/** The method, if it is known before the step runs. */
const constantMethod = (method: unknown = "GET"): string | null =>
  METHODS.find((known) => known === method) ?? null;

/** The secrets that headers name, as they are written. */
const secretNames = (headers: unknown): string[] =>
  Object.values(isRecord(headers) ? headers : {}).flatMap((value) =>
    isRecord(value) && typeof value["secret"] === "string" ? [value["secret"]] : [],
  );

/**
 * Returns the part of a URL that is known before the step runs: all of it, or what precedes its first expression if that
 * includes the host; else null.
 */
function constantUrl(url: unknown): string | null {
  if (typeof url !== "string") return null;
  const start = url.indexOf("${{");
  if (start === -1) return url;
  return /^\s*[a-z][a-z0-9+.-]*:\/\/[^/?#]+[/?#]/i.test(url.slice(0, start)) ? url.slice(0, start) : null;
}

/**
 * Appends the parameters without parsing the URL, which would change the encoding of its own query.
 * @throws StepError input_invalid
 */
function withQuery(url: string, query: Readonly<Record<string, unknown>>): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null) continue;
      const sent = String(item);
      for (const written of [name, sent]) assertWellFormed(formatPath(["query", name]), written);
      added.append(name, sent);
    }
  if (added.size === 0) return url;
  const [address, ...fragment] = url.split("#");
  const separator = !address!.includes("?") ? "?" : /[?&]$/.test(address!) ? "" : "&";
  return [`${address}${separator}${added.toString()}`, ...fragment].join("#");
}

const headerTexts = (
  headers: Readonly<Record<string, z.output<typeof HeaderValue>>>,
): Record<string, string | SecretRef> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === "object" ? value : String(value)]),
  );

function withIdempotencyKey(
  method: string,
  headers: Readonly<Record<string, string | SecretRef>>,
  key: string,
): Record<string, string | SecretRef> {
  const isSet = Object.keys(headers).some((name) => name.toLowerCase() === "idempotency-key");
  return !mayHaveEffects(method, headers) || isSet ? { ...headers } : { ...headers, "Idempotency-Key": key };
}

function unexpectedStatus(
  method: string,
  url: string,
  { status, headers, body }: HttpResponse,
  now: number,
): StepError {
  const transient = status >= 500 || TRANSIENT.has(status);
  // Also of other statuses, which the step retries if `on` has http_status.
  const retryAfter = retryAfterMs(headers, now);
  return new StepError(
    "http_status",
    `${method} ${URL.parse(url)?.host ?? ""} answered with status ${status}.`,
    {
      fix: fixFor(status, { transient, retryAfter, location: headers["location"] }),
      details: { status, body: bodyText(body).slice(0, MAX_BODY_CHARS) },
      transient,
      ...(isUnansweredStatus(status) && { unanswered: true }),
      ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
    },
  );
}

/** A body as text: one that is no text as JSON, none as an empty text. */
function bodyText(body: unknown): string {
  if (body === null) return "";
  if (typeof body === "string") return body;
  const { text: json } = encodeJson(body);
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

function fixFor(
  status: number,
  {
    transient,
    retryAfter,
    location,
  }: { transient: boolean; retryAfter: number | undefined; location: unknown },
): string {
  if (transient) return "The failure may be temporary.";
  if (retryAfter !== undefined && status >= 400)
    return `The server asks to try again in ${Math.ceil(retryAfter / SECOND)} s. To do so, set retry: { attempts: 3, on: [http_status] }.`;
  if (status === 401 || status === 403) return "Check the secret in headers and its permissions.";
  if (status === 304)
    return "Add 304 to accept_status: nothing has changed, and the answer has no body. Or leave out If-None-Match and If-Modified-Since.";
  if (status < 400 && location !== undefined)
    return `Request the URL in headers.location, or add ${status} to accept_status.`;
  return `See the response in details.body. If ${status} is not a failure here, add it to accept_status.`;
}
