/** The paths of the OpenAPI document: operations, session endpoints and the event stream of a run. */
import type { RouteConfig } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";
import { RunId } from "../../../schemas/run.ts";
import { SessionInfo } from "../../../schemas/user.ts";
import { type AnyTool, parseRoute } from "../../core/tool.ts";
import type { SessionEndpoint } from "../session/endpoint.ts";
import { planInput } from "./input.ts";
import { BODY_ERRORS, HEADERS, problems, responsesOf } from "./openapi-responses.ts";
import { tagOf } from "./openapi-tags.ts";

/** The path of an operation of the catalogue. */
export function pathOf(tool: AnyTool): RouteConfig {
  const { method, path } = parseRoute(tool);
  const plan = planInput(tool);
  const shape = (tool.input as z.ZodObject).shape;
  const pick = (fields: readonly string[]) =>
    z.strictObject(Object.fromEntries(fields.map((field) => [field, shape[field]!])));
  const conditions = {
    ...(tool.etag && tool.effect === "read" && ifNoneMatch),
    ...(tool.revision && ifNoneMatch),
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
    description: `${tool.description}\n\n${accessText(tool)}`,
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

/** The path of a session endpoint, which needs no key. */
export function sessionPathOf(endpoint: SessionEndpoint): RouteConfig {
  const { method, path, name, title, description, status, output, input, errors, requiresSession } = endpoint;
  const hasInput = Object.keys(input.shape).length > 0;
  const setsCookie = endpoint.output === SessionInfo && method === "POST";
  return {
    method: method.toLowerCase() as "get",
    path,
    operationId: name,
    summary: title,
    description,
    tags: ["Session"],
    security: requiresSession ? [{ Session: [] }] : [],
    request: hasInput
      ? method === "GET"
        ? { query: input }
        : { body: { required: true, content: bodyContent(input) } }
      : {},
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
        ...(method === "POST" ? BODY_ERRORS : []),
        ...errors,
      ]),
    },
  };
}

const bodyContent = (schema: z.ZodObject) => ({
  "application/json": { schema, example: exampleOf(schema) },
});

const accessText = ({ scope, requiresUser }: Pick<AnyTool, "scope" | "requiresUser">): string =>
  requiresUser
    ? `Needs a signed-in user whose role grants the scope \`${scope}\`; API keys are refused.`
    : `Needs an API key with the scope \`${scope}\`, or a signed-in user whose role grants it.`;

const ifNoneMatch = {
  "If-None-Match": z
    .string()
    .optional()
    .meta({ description: "The ETag of your copy: 304 if it is still current.", example: 'W/"7-0.1.0"' }),
};

/** The parameter of a header, which is a string whatever the type of the field. */
function headerParameter(header: string, field: z.ZodType): [string, z.ZodType] {
  const description = metaOf(field, "description") as string;
  return header === "If-Match"
    ? [
        "If-Match",
        z
          .string()
          .optional()
          .meta({
            description: `The ETag of the version that you changed, or *. ${description}`,
            example: '"3"',
          }),
      ]
    : ["Idempotency-Key", field];
}

function bodyOf(tool: AnyTool, schema: z.ZodObject) {
  const required = !Object.values(schema.shape).every((field) => isOptional(field as z.ZodType));
  return {
    required,
    content: { "application/json": { schema, example: tool.example ?? exampleOf(schema) } },
  };
}

/**
 * An example of an object, made from the examples of its fields, which the interactive reference sends. It leaves out an optional
 * project: an installation may have only the default one.
 */
function exampleOf(schema: z.ZodObject): Record<string, unknown> {
  const entries = Object.entries(schema.shape)
    .filter(([field, type]) => field !== "project" || !isOptional(type as z.ZodType))
    .map(([field, type]) => [field, metaOf(type as z.ZodType, "example")]);
  return Object.fromEntries(entries.filter(([, example]) => example !== undefined)) as Record<
    string,
    unknown
  >;
}

const isOptional = (type: z.ZodType): boolean => type.safeParse(undefined).success;

/** A meta value of a field, or of the type that it makes optional. */
function metaOf(type: z.ZodType, key: "description" | "example"): unknown {
  const inner = (type as { def?: { innerType?: z.ZodType } }).def?.innerType;
  return type.meta()?.[key] ?? (inner && metaOf(inner, key));
}

/** Not in the catalogue, because a stream is not a single answer. */
export const RUN_EVENTS: RouteConfig = {
  method: "get",
  path: "/runs/{run_id}/events",
  operationId: "run_events",
  summary: "Follow a run",
  description:
    "Server-sent events until the run ends: `run` (state of the run), `step` (state of a step), and finally `end` (how the " +
    "run ended; GET /runs/{run_id} returns its output). The stream begins with the whole state, then sends the newest state " +
    "of what has changed, at most about ten events a second, so intermediate states may be skipped. To resume a broken " +
    "stream, send Last-Event-ID; after the last event the answer is 204.\n\n" +
    accessText({ scope: "read" }),
  tags: ["Runs"],
  request: {
    params: z.strictObject({ run_id: RunId }),
    headers: z.object({
      "Last-Event-ID": z
        .string()
        .optional()
        .meta({ description: "The id of the last event that you received.", example: "17" }),
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
    204: { description: "The run has ended, and you have received its last event (Last-Event-ID)." },
    ...problems(["run_not_found", "too_many_streams"]),
  },
};
