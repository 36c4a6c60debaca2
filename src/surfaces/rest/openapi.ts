/** The OpenAPI 3.1 document, generated from the catalogue's zod schemas. */
import { OpenAPIRegistry, OpenApiGeneratorV31 } from "@asteasolutions/zod-to-openapi";
import { Health } from "../../../schemas/health.ts";
import { type AnyTool, type HttpMethod, isServedOn, parseRoute } from "../../core/tool.ts";
import { sessionEndpoints } from "../session/endpoints.ts";
import { EVENTS } from "./events.ts";
import { HOOKS } from "./hooks.ts";
import { pathOf, RUN_EVENTS, sessionPathOf } from "./openapi-paths.ts";
import { problem } from "./openapi-responses.ts";
import { TAGS } from "./openapi-tags.ts";

/** Builds the document. @param version of the program */
export function openApiDocument(
  catalogue: readonly AnyTool[],
  version: string,
  pathPrefix = "",
): Record<string, unknown> {
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
    description: "The same key, for clients that can only send Authorization.",
  });
  registry.registerComponent("securitySchemes", "Session", {
    type: "apiKey",
    in: "cookie",
    name: "__Host-millrace",
    description: "The session of a signed-in user (millrace_session over plain http).",
  });
  registry.registerPath({
    method: "get",
    path: "/health",
    operationId: "health",
    summary: "Whether this process can serve requests",
    description: "For load balancers. Needs no key and takes no lock.",
    tags: ["Health"],
    security: [],
    responses: {
      200: { description: "The process is healthy.", content: { "application/json": { schema: Health } } },
      431: problem(["headers_too_large"], {}),
      503: {
        description: "The process is shutting down, or can't reach its state.",
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
  registry.registerPath(EVENTS);
  registry.registerPath(HOOKS);
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
        "Errors are problem details (RFC 9457) with a stable `code` and, for an invalid input, all of its issues.\n\n" +
        `This document: [openapi.json](${pathPrefix}/apidoc/openapi.json), [openapi.yaml](${pathPrefix}/apidoc/openapi.yaml). ` +
        `The JSON Schema of a workflow's definition: [workflow.schema.json](${pathPrefix}/apidoc/workflow.schema.json).`,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      contact: { name: "Millrace" },
    },
    servers: [{ url: pathPrefix || "/", description: "This server" }],
    tags: [...TAGS],
    security: [{ ApiKey: [] }, { Bearer: [] }, { Session: [] }],
  });
  const typed = document as unknown as Document;
  for (const path of Object.values(typed.paths))
    for (const operation of Object.values(path)) moveExamples(operation);
  return typed;
}

interface Document extends Record<string, unknown> {
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  parameters?: { required?: boolean; description?: string; schema: { example?: unknown } }[];
}

/**
 * Moves the examples of optional parameters into their descriptions: the interactive reference fills its forms with
 * examples, and would send them.
 */
function moveExamples({ parameters = [] }: Operation): void {
  for (const parameter of parameters) {
    const { example, ...schema } = parameter.schema;
    if (parameter.required || example === undefined) continue;
    parameter.schema = schema;
    const text = ([example].flat() as (string | number)[]).join(",");
    parameter.description = `${parameter.description} For example: \`${text}\`.`;
  }
}

const METHODS: readonly HttpMethod[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Orders operations for readers: a collection before its members, GET before changes. */
function byRoute(a: AnyTool, b: AnyTool): number {
  const [one, other] = [parseRoute(a), parseRoute(b)];
  return (
    one.path.localeCompare(other.path, "en") || METHODS.indexOf(one.method) - METHODS.indexOf(other.method)
  );
}
