/** The responses of the OpenAPI document: successes, problems and their headers. */
import type { RouteConfig } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";
import { Problem } from "../../../schemas/problem.ts";
import { type ErrorCode, ERRORS } from "../../core/errors.ts";
import { type AnyTool, parseRoute } from "../../core/tool.ts";

export type Responses = RouteConfig["responses"];
type Header = { description: string; schema: { type: "string" | "integer"; example?: string | number } };

/** The errors of every request that needs a key or a session. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  "invalid_input",
  "invalid_request",
  "unauthorized",
  "missing_scope",
  "not_permitted",
  "request_timeout",
  "rate_limited",
  "headers_too_large",
  "internal",
  "busy",
  "storage_unavailable",
];
export const BODY_ERRORS: readonly ErrorCode[] = [
  "invalid_json",
  "payload_too_large",
  "unsupported_media_type",
];

export const HEADERS = {
  requestId: {
    description: "The id of the request in the log.",
    schema: { type: "string", example: "req_8dkq2m0sfj3a" },
  },
  etag: {
    description: "The revision, for If-Match and If-None-Match.",
    schema: { type: "string", example: '"3"' },
  },
  location: {
    description: "The path of the resource.",
    schema: { type: "string", example: "/workflows/weekly-revenue" },
  },
  total: {
    description: "Number of items on all pages; counting stops at 10,000, in a search at 1,000.",
    schema: { type: "integer", example: 128 },
  },
  totalCapped: {
    description: "`true` when there are more than X-Total-Count; else it is missing.",
    schema: { type: "string", example: "true" },
  },
  link: {
    description: 'The next page, with rel="next" (RFC 8288).',
    schema: { type: "string", example: '</workflows?limit=50&cursor=q7Xk>; rel="next"' },
  },
  cookie: {
    description: "The session cookie: HttpOnly, SameSite=Strict, `__Host-` and Secure over https.",
    schema: { type: "string", example: "__Host-millrace=…; Path=/; HttpOnly; Secure; SameSite=Strict" },
  },
  noStore: {
    description: "`no-store`, because the answer contains a secret.",
    schema: { type: "string", example: "no-store" },
  },
  retryAfter: { description: "Seconds to wait.", schema: { type: "string", example: "1" } },
} as const satisfies Record<string, Header>;

/** Every response of an operation. @param inBody whether its input is a JSON body */
export function responsesOf(tool: AnyTool, inBody: boolean): Responses {
  const responses: Responses = { [tool.effect === "create" ? 201 : 200]: success(tool) };
  if (tool.pollLocation) responses[202] = accepted(tool);
  if ((tool.etag && tool.effect === "read") || tool.revision) {
    responses[304] = { description: "Not modified: your copy is current (If-None-Match)." };
  }
  const codes: readonly ErrorCode[] = [
    ...(inBody ? BODY_ERRORS : []),
    ...(tool.requiresUser ? (["person_needed"] as const) : []),
    // A page of another site can make a signed-in browser send a request.
    ...(parseRoute(tool).method === "GET" ? [] : (["forbidden_origin"] as const)),
    ...tool.errors,
  ];
  return { ...responses, ...problems(codes) };
}

/** The error responses of a path. @param codes the error codes besides those of every request */
export function problems(codes: readonly ErrorCode[]): Responses {
  const responses: Responses = {};
  for (const [status, group] of Map.groupBy(
    new Set([...COMMON_ERRORS, ...codes]),
    (code) => ERRORS[code].status,
  )) {
    const headers: Record<string, Header> =
      status === 503 || status === 429 ? { "Retry-After": HEADERS.retryAfter } : {};
    responses[status] = problem(group, headers);
  }
  return responses;
}

function success(tool: AnyTool): Responses[string] {
  const headers: Record<string, Header> = { "X-Request-Id": HEADERS.requestId };
  if (tool.etag || tool.revision) headers["ETag"] = HEADERS.etag;
  if (tool.noStore) headers["Cache-Control"] = HEADERS.noStore;
  else if (tool.effect === "create") headers["Location"] = HEADERS.location;
  if (tool.page)
    Object.assign(headers, {
      "X-Total-Count": HEADERS.total,
      "X-Total-Count-Capped": HEADERS.totalCapped,
      Link: HEADERS.link,
    });
  const { linesFile } = tool.page ?? {};
  if (linesFile !== undefined)
    return {
      description: "All items as lines of JSON, or one page if `limit` or `cursor` is given.",
      headers,
      content: { "application/x-ndjson": { schema: tool.page!.item } },
    };
  return {
    description: tool.page
      ? "All items, or one page if `limit` or `cursor` is given."
      : `${tool.title}: done.`,
    headers,
    content: {
      "application/json": { schema: tool.page ? z.array(tool.page.item) : (tool.output as z.ZodType) },
    },
  };
}

const accepted = (tool: AnyTool): Responses[string] => ({
  description: "Accepted, and still running; Location is the path to poll.",
  headers: {
    "X-Request-Id": HEADERS.requestId,
    Location: {
      description: HEADERS.location.description,
      schema: { type: "string", example: "/runs/run_8dkq2m0sfj3a" },
    },
  },
  content: { "application/json": { schema: tool.output as z.ZodType } },
});

/** One error response, with the titles of its codes. */
export function problem(codes: readonly ErrorCode[], headers: Record<string, Header>): Responses[string] {
  const first = codes[0]!;
  return {
    description: codes.map((code) => `${ERRORS[code].title} (\`${code}\`).`).join(" "),
    headers: { "X-Request-Id": HEADERS.requestId, ...headers },
    content: {
      "application/problem+json": {
        schema: Problem,
        example: {
          type: `urn:millrace:problem:${first}`,
          title: ERRORS[first].title,
          status: ERRORS[first].status,
          detail: "What happened and what to do.",
          code: first,
          request_id: "req_8dkq2m0sfj3a",
        },
      },
    },
  };
}
