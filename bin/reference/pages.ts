/** The pages of the documentation that are made from the code, so that they can't be wrong about it. */
import { z } from "zod";
import { ERRORS, type ErrorCode } from "../../src/core/errors.ts";
import { STEP_ERROR_CODES, STEP_ERRORS } from "../../src/core/step-errors.ts";
import { type AnyTool, parseRoute, isServedOn } from "../../src/core/tool.ts";
import { sessionEndpoints } from "../../src/surfaces/session/endpoints.ts";
import { ADVICE, STEP_ADVICE } from "./error-advice.ts";
import { generatedNotice, table } from "./table.ts";

/** The two tables of docs/troubleshooting.md. */
export function errorTables(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const ofRequests = codes
    .toSorted()
    .map((code) => [`\`${code}\``, String(ERRORS[code].status), ADVICE[code].meaning, ADVICE[code].remedy]);
  const ofSteps = STEP_ERROR_CODES.map((code) => [
    `\`${code}\``,
    STEP_ERRORS[code].title,
    STEP_ERRORS[code].transient ? "yes" : "no",
    STEP_ADVICE[code],
  ]);
  return `## Errors of requests

Over REST they are problem details (RFC 9457) with \`code\`, \`detail\` and \`request_id\`; over MCP the same stands in the
tool's result. The log has a line with the request id.

${table(["code", "status", "what it means", "what to do"], ofRequests)}

## Errors of steps

They stand in a run's \`error\` and in its steps. Those that may go away by themselves are what \`retry\` without \`on\`
repeats.

${table(["code", "what happened", "may go away", "what to do"], ofSteps)}`;
}

interface Property {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Property[];
  items?: Property;
  description?: string;
  default?: unknown;
  $ref?: string;
}

function typeOf({ type, enum: words, anyOf, items, $ref }: Property): string {
  if (words !== undefined) return words.map((word) => `\`${String(word)}\``).join(", ");
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(" or ");
  if (type === "array" && items !== undefined) return `list of ${typeOf(items)}`;
  if ($ref !== undefined) return "object";
  return type === undefined ? "any" : String(type);
}

function fieldTable(input: z.ZodType, inWhere: (name: string) => string): string {
  const { properties = {}, required = [] } = z.toJSONSchema(input, {
    io: "input",
    unrepresentable: "any",
  }) as {
    properties?: Record<string, Property>;
    required?: string[];
  };
  const rows = Object.entries(properties).map(([name, property]) => [
    `\`${name}\`${required.includes(name) ? " (needed)" : ""}`,
    inWhere(name),
    typeOf(property),
    (property.description ?? "") +
      (property.default === undefined ? "" : ` Default: \`${JSON.stringify(property.default)}\`.`),
  ]);
  return rows.length === 0 ? "Takes nothing." : table(["field", "in", "type", "what"], rows);
}

const errorList = (codes: readonly string[]): string =>
  codes.length === 0
    ? ""
    : `\n\nErrors of its own: ${codes.map((code) => `[\`${code}\`](../troubleshooting.md#errors-of-requests)`).join(", ")}.`;

const byNoun = (catalogue: readonly AnyTool[]) =>
  Map.groupBy(catalogue, (tool) => parseRoute(tool).path.split("/")[1]!);

/** docs/reference/rest.md */
export function restPage(catalogue: readonly AnyTool[]): string {
  const parts = [...byNoun(catalogue.filter((tool) => isServedOn(tool, "rest")))].map(
    ([noun, tools]) => `## /${noun}\n\n${tools.map(restOperation).join("\n\n")}`,
  );
  const sessions = table(
    ["endpoint", "name", "what", "only with passwords here"],
    sessionEndpoints.map(({ method, path, name, description, builtInOnly }) => [
      `\`${method} ${path}\``,
      `\`${name}\``,
      description,
      builtInOnly ? "yes" : "no",
    ]),
  );
  return `${generatedNotice("the catalogue in tools/")}

# REST reference

Every operation, made from what the server itself checks. Conventions (errors, paging, \`If-Match\`, \`Idempotency-Key\`) are in
[HTTP API](../http-api.md); a running server shows the same with examples, to be tried out, under \`/apidoc\`, and as a
document to download. A scope is what the key (or the role) needs.

${parts.join("\n\n")}

## /session

What the web interface signs people in with; it needs no key and is of no use to scripts.

${sessions}
`;
}

function restOperation(tool: AnyTool): string {
  const { method, path, parameters } = parseRoute(tool);
  const inWhere = (name: string): string =>
    tool.headers?.[name] ?? (parameters.includes(name) ? "path" : method === "GET" ? "query" : "body");
  const who = tool.requiresUser ? "somebody signed in" : "a key or somebody signed in";
  return `### ${tool.name}

\`${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}\` · scope \`${tool.scope}\` · ${who}

${tool.description}

${fieldTable(tool.input as z.ZodType, inWhere)}${errorList(tool.errors)}`;
}

/** docs/reference/mcp.md */
export function mcpPage(catalogue: readonly AnyTool[]): string {
  const tools = catalogue.filter((tool) => isServedOn(tool, "mcp"));
  const parts = tools.map(
    (tool) => `## ${tool.name}

${tool.title} · scope \`${tool.scope}\` · ${tool.effect === "read" ? "changes nothing" : `effect: ${tool.effect}`}

${tool.description}

${fieldTable(tool.input as z.ZodType, () => "arguments")}${errorList(tool.errors)}`,
  );
  return `${generatedNotice("the catalogue in tools/")}

# MCP reference

The ${tools.length} tools that an agent sees, the same at \`/mcp\` and \`/sse\`. How to connect is in
[Connecting agents](../connecting-agents.md), what the protocol's revisions make of it in [MCP](../mcp.md). Published
workflows with \`expose_as_tool\` are tools beside these.

${parts.join("\n\n")}
`;
}
