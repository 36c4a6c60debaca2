/** The OpenAPI 3.1 document, made from the catalogue's own zod schemas. */
import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";
import { Health } from "../../../schemas/health.ts";
import { Problem } from "../../../schemas/problem.ts";
import { RunId } from "../../../schemas/run.ts";
import { SessionInfo } from "../../../schemas/user.ts";
import { type ErrorCode, ERRORS } from "../../core/errors.ts";
import { type AnyTool, type HttpMethod, parseRoute, isServedOn } from "../../core/tool.ts";
import type { SessionEndpoint } from "../session/endpoint.ts";
import { sessionEndpoints } from "../session/endpoints.ts";
import { planInput } from "./input.ts";

type Responses = RouteConfig["responses"];
type Header = { description: string; schema: { type: "string" | "integer"; example?: string | number } };

/** What any request that must show who asks can meet. */
const ALWAYS: readonly ErrorCode[] = [
  "invalid_input",
  "invalid_request",
  "unauthorized",
  "missing_scope",
  "request_timeout",
  "rate_limited",
  "headers_too_large",
  "internal",
  "busy",
  "storage_unavailable",
];
const WITH_BODY: readonly ErrorCode[] = ["invalid_json", "payload_too_large", "unsupported_media_type"];

const HEADERS = {
  requestId: {
    description: "Under which the request was logged.",
    schema: { type: "string", example: "req_8dkq2m0sfj3a" },
  },
  etag: {
    description: "The revision; for If-Match and If-None-Match.",
    schema: { type: "string", example: '"3"' },
  },
  location: { description: "Where it is.", schema: { type: "string", example: "/workflows/weekly-revenue" } },
  total: { description: "How many there are in all.", schema: { type: "integer", example: 128 } },
  link: {
    description: 'The next page, rel="next" (RFC 8288).',
    schema: { type: "string", example: '</workflows?limit=50&cursor=q7Xk>; rel="next"' },
  },
  cookie: {
    description: "The session's cookie: HttpOnly, SameSite=Strict, `__Host-` and Secure over https.",
    schema: { type: "string", example: "__Host-millrace=…; Path=/; HttpOnly; Secure; SameSite=Strict" },
  },
  noStore: {
    description: "Holds a secret: no-store.",
    schema: { type: "string", example: "no-store" },
  },
  retryAfter: { description: "Seconds to wait.", schema: { type: "string", example: "1" } },
} as const satisfies Record<string, Header>;

/** The whole document for these operations. */
export function openApiDocument(catalogue: readonly AnyTool[], version: string): Record<string, unknown> {
  const registry = new OpenAPIRegistry();
  registry.registerComponent("securitySchemes", "ApiKey", {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "An API key: mill_ and 36 letters and digits.",
  });
  registry.registerComponent("securitySchemes", "Bearer", {
    type: "http",
    scheme: "bearer",
    description: "The same key, for clients that can send nothing else.",
  });
  registry.registerComponent("securitySchemes", "Session", {
    type: "apiKey",
    in: "cookie",
    name: "__Host-millrace",
    description: "The session of somebody who is signed in (millrace_session over plain http).",
  });
  registry.registerPath({
    method: "get",
    path: "/health",
    operationId: "health",
    summary: "Whether this process can serve",
    description: "For load balancers. Needs no key and touches no lock.",
    tags: ["Health"],
    security: [],
    responses: {
      200: { description: "It can.", content: { "application/json": { schema: Health } } },
      431: problem(["headers_too_large"], {}),
      503: {
        description: "It is shutting down, or can't reach its state.",
        content: {
          "application/json": {
            schema: Health,
            example: { status: "draining", version, detail: "This process is shutting down." },
          },
        },
      },
    },
  });
  registry.registerPath(RUN_EVENTS);
  for (const endpoint of sessionEndpoints) registry.registerPath(sessionPathOf(endpoint));
  const served = catalogue.filter((tool) => isServedOn(tool, "rest"));
  for (const tool of served.toSorted(byRoute)) registry.registerPath(pathOf(tool));

  const document = new OpenApiGeneratorV31(registry.definitions, {
    sortComponents: "alphabetically",
  }).generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Millrace",
      version,
      description:
        "Workflows for agents, scripts and people. Most operations are also MCP tools of the same name. " +
        "Errors are problem details (RFC 9457) with a stable `code` and, for inputs, every fault at once.\n\n" +
        "This document: [openapi.json](/apidoc/openapi.json), [openapi.yaml](/apidoc/openapi.yaml). " +
        "The JSON Schema of a workflow's definition: [workflow.schema.json](/apidoc/workflow.schema.json).",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      contact: { name: "Millrace" },
    },
    servers: [{ url: "/", description: "This server" }],
    tags: [
      { name: "Workflows", description: "What there is, its history, and going live." },
      { name: "Runs", description: "What ran, how it went, and acting on it." },
      { name: "Approvals", description: "What waits for a person." },
      { name: "Schedules", description: "What runs by itself, and when." },
      { name: "Environment", description: "What workflows can use." },
      { name: "API keys", description: "Keys of people, and their life." },
      { name: "Sessions", description: "Where one is signed in." },
      { name: "Users", description: "Who may sign in, and as what." },
      { name: "Audit log", description: "Who changed what." },
      { name: "Session", description: "Signing in and out; for the web interface." },
      { name: "Health", description: "For load balancers." },
    ],
    security: [{ ApiKey: [] }, { Bearer: [] }, { Session: [] }],
  });
  const whole = document as unknown as Document;
  for (const path of Object.values(whole.paths))
    for (const operation of Object.values(path)) inWords(operation);
  return whole;
}

interface Document extends Record<string, unknown> {
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  parameters?: { required?: boolean; description?: string; schema: { example?: unknown } }[];
}

/** The reference fills its forms in with examples, and sends them: what may be left out has its example in words. */
function inWords({ parameters = [] }: Operation): void {
  for (const parameter of parameters) {
    const { example, ...schema } = parameter.schema;
    if (parameter.required || example === undefined) continue;
    parameter.schema = schema;
    const shown = ([example].flat() as (string | number)[]).join(",");
    parameter.description = `${parameter.description} For example: \`${shown}\`.`;
  }
}

const METHODS: readonly HttpMethod[] = ["GET", "POST", "PATCH", "DELETE"];

/** As people read a reference: the collection before its members, looking before changing. */
function byRoute(a: AnyTool, b: AnyTool): number {
  const [one, other] = [parseRoute(a), parseRoute(b)];
  return (
    one.path.localeCompare(other.path, "en") || METHODS.indexOf(one.method) - METHODS.indexOf(other.method)
  );
}

function pathOf(tool: AnyTool): RouteConfig {
  const { method, path } = parseRoute(tool);
  const plan = planInput(tool);
  const shape = (tool.input as z.ZodObject).shape;
  const pick = (fields: readonly string[]) =>
    z.strictObject(Object.fromEntries(fields.map((field) => [field, shape[field]!])));
  const conditions = {
    ...(tool.etag && tool.effect === "read" && ifNoneMatch),
    ...(tool.page?.revision && ifNoneMatch),
  };
  const headers = z.object({
    ...Object.fromEntries(
      plan.headers.map(([field, header]) => headerParameter(header, shape[field] as z.ZodType)),
    ),
    ...conditions,
  });
  return {
    method: method.toLowerCase() as "get",
    path: path.replace(/:(\w+)/g, "{$1}"),
    operationId: tool.name,
    summary: tool.title,
    description: `${tool.description}\n\n${needs(tool)}`,
    tags: [tagOf(tool)],
    ...(tool.requiresUser && { security: [{ Session: [] }] }),
    request: {
      ...(plan.parameters.length > 0 && { params: pick(plan.parameters) }),
      ...(!plan.inBody && plan.fields.length > 0 && { query: pick(plan.fields) }),
      ...(Object.keys(headers.shape).length > 0 && { headers }),
      ...(plan.inBody && { body: bodyOf(tool, pick(plan.fields)) }),
    },
    responses: responsesOf(tool, plan.inBody),
  };
}

/** Signing in: without a key, and with cookies. */
function sessionPathOf(endpoint: SessionEndpoint): RouteConfig {
  const { method, path, name, title, description, status, output, input, errors, requiresSession } = endpoint;
  const inBody = Object.keys(input.shape).length > 0;
  const setsCookie = endpoint.output === SessionInfo && method === "POST";
  return {
    method: method.toLowerCase() as "get",
    path,
    operationId: name,
    summary: title,
    description,
    tags: ["Session"],
    security: requiresSession ? [{ Session: [] }] : [],
    request: { ...(inBody && { body: { required: true, content: bodyContent(input) } }) },
    responses: {
      [status]: {
        description: `${title}: done.`,
        headers: {
          "X-Request-Id": HEADERS.requestId,
          ...(setsCookie && { "Set-Cookie": HEADERS.cookie }),
        },
        ...(output && { content: { "application/json": { schema: output } } }),
      },
      ...problems([
        "forbidden_origin",
        ...(requiresSession ? (["unauthorized"] as const) : []),
        ...(method === "POST" ? WITH_BODY : []),
        ...errors,
      ]),
    },
  };
}

const bodyContent = (schema: z.ZodObject) => ({
  "application/json": { schema, example: exampleOf(schema) },
});

const needs = ({ scope, requiresUser }: Pick<AnyTool, "scope" | "requiresUser">): string =>
  requiresUser
    ? `For somebody signed in whose role gives the scope \`${scope}\`; no key may do it.`
    : `Needs a key with the scope \`${scope}\`, or somebody signed in whose role gives it.`;

/** By the noun that it gives or acts on, which its path names. */
function tagOf(tool: AnyTool): string {
  const { path } = parseRoute(tool);
  const noun = path.endsWith("/runs") ? "runs" : path.split("/")[1]!.replaceAll("-", " ");
  return (noun.slice(0, 1).toUpperCase() + noun.slice(1)).replace(/^Api\b/, "API");
}

const ifNoneMatch = {
  "If-None-Match": z
    .string()
    .optional()
    .meta({ description: "An ETag you have: 304 when it is still the newest.", example: 'W/"7-0.1.0"' }),
};

/** A header's parameter: text on the wire, whatever the field is. */
function headerParameter(header: string, field: z.ZodType): [string, z.ZodType] {
  const description = ofField(field, "description") as string;
  return header === "If-Match"
    ? [
        "If-Match",
        z
          .string()
          .optional()
          .meta({ description: `The ETag you started from, or *. ${description}`, example: '"3"' }),
      ]
    : ["Idempotency-Key", field];
}

function bodyOf(tool: AnyTool, schema: z.ZodObject) {
  const required = Object.values(schema.shape).some(
    (field) => !(field as z.ZodType).safeParse(undefined).success,
  );
  return {
    required,
    content: { "application/json": { schema, example: tool.example ?? exampleOf(schema) } },
  };
}

/** An example of the whole from the examples of the fields. */
function exampleOf(schema: z.ZodObject): Record<string, unknown> {
  const entries = Object.entries(schema.shape).map(([field, type]) => [
    field,
    ofField(type as z.ZodType, "example"),
  ]);
  return Object.fromEntries(entries.filter(([, example]) => example !== undefined)) as Record<
    string,
    unknown
  >;
}

/** What is said of a field: by itself, or by the type it makes optional. */
function ofField(type: z.ZodType, key: "description" | "example"): unknown {
  const inner = (type as { def?: { innerType?: z.ZodType } }).def?.innerType;
  return type.meta()?.[key] ?? (inner && ofField(inner, key));
}

function responsesOf(tool: AnyTool, inBody: boolean): Responses {
  const responses: Responses = { [tool.effect === "create" ? 201 : 200]: success(tool) };
  if (tool.pollLocation) responses[202] = accepted(tool);
  if ((tool.etag && tool.effect === "read") || tool.page?.revision) {
    responses[304] = { description: "You have it already (If-None-Match)." };
  }
  const more: readonly ErrorCode[] = [
    ...(inBody ? WITH_BODY : []),
    ...(tool.requiresUser ? (["person_needed"] as const) : []),
    // What another site lets a signed-in browser send.
    ...(parseRoute(tool).method === "GET" ? [] : (["forbidden_origin"] as const)),
    ...tool.errors,
  ];
  return { ...responses, ...problems(more) };
}

/** What a request can meet: what any can, and these. */
function problems(more: readonly ErrorCode[]): Responses {
  const responses: Responses = {};
  for (const [status, group] of Map.groupBy(new Set([...ALWAYS, ...more]), (code) => ERRORS[code].status)) {
    const extra: Record<string, Header> =
      status === 503 || status === 429 ? { "Retry-After": HEADERS.retryAfter } : {};
    responses[status] = problem(group, extra);
  }
  return responses;
}

function success(tool: AnyTool): Responses[string] {
  const headers: Record<string, Header> = { "X-Request-Id": HEADERS.requestId };
  if (tool.etag || tool.page?.revision) headers["ETag"] = HEADERS.etag;
  if (tool.noStore) headers["Cache-Control"] = HEADERS.noStore;
  else if (tool.effect === "create") headers["Location"] = HEADERS.location;
  if (tool.page) Object.assign(headers, { "X-Total-Count": HEADERS.total, Link: HEADERS.link });
  return {
    description: tool.page
      ? "All of them, or one page when limit or cursor is given."
      : `${tool.title}: done.`,
    headers,
    content: {
      "application/json": { schema: tool.page ? z.array(tool.page.item) : (tool.output as z.ZodType) },
    },
  };
}

const accepted = (tool: AnyTool): Responses[string] => ({
  description: "It was accepted and goes on; Location says where to ask.",
  headers: {
    "X-Request-Id": HEADERS.requestId,
    Location: {
      description: HEADERS.location.description,
      schema: { type: "string", example: "/runs/run_8dkq2m0sfj3a" },
    },
  },
  content: { "application/json": { schema: tool.output as z.ZodType } },
});

function problem(codes: readonly ErrorCode[], headers: Record<string, Header>): Responses[string] {
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
          detail: "What happened, and what to do next.",
          code: first,
          request_id: "req_8dkq2m0sfj3a",
        },
      },
    },
  };
}

/** A stream is no operation of the catalogue: it has no one answer. */
const RUN_EVENTS: RouteConfig = {
  method: "get",
  path: "/runs/{run_id}/events",
  operationId: "run_events",
  summary: "Follow a run",
  description:
    "Server-sent events until the run has ended: `run` (how it stands), `step` (how one of its steps stands), and last " +
    "`end` (how the run ended; its output is at GET /runs/{run_id}). First comes everything, then the newest state of what " +
    "has changed, about ten events a second at most: states in between may be left out. A stream that broke goes on with " +
    "Last-Event-ID; one that was seen to its end answers 204.\n\n" +
    needs({ scope: "read" }),
  tags: ["Runs"],
  request: {
    params: z.strictObject({ run_id: RunId }),
    headers: z.object({
      "Last-Event-ID": z
        .string()
        .optional()
        .meta({ description: "The id of the last event that arrived.", example: "17" }),
    }),
  },
  responses: {
    200: {
      description: "The stream.",
      headers: { "X-Request-Id": HEADERS.requestId },
      content: {
        "text/event-stream": {
          schema: z.string(),
          example:
            'event: run\ndata: {"id":"run_8dkq2m0sfj3a","status":"running","progress":{"total":3,"done":1,"current":["summary"]}}\n\n' +
            'id: 17\nevent: step\ndata: {"id":"summary","type":"model","status":"running","attempts":1,"error":null}\n\n',
        },
      },
    },
    204: { description: "Its end was seen already (Last-Event-ID): there is nothing more to come." },
    ...problems(["run_not_found", "too_many_streams"]),
  },
};
