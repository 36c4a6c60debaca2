/** Generates the reference pages of the documentation from the code. */
import { z } from "zod";
import { ERRORS, type ErrorCode } from "../../src/core/errors.ts";
import { RECORDED_OF_RUNS, RECORDED_OPERATIONS } from "../../src/core/recorded-operations.ts";
import { STEP_ERROR_CODES, STEP_ERRORS } from "../../src/core/step-errors.ts";
import { type AnyTool, parseRoute, isServedOn } from "../../src/core/tool.ts";
import { PROMPTS } from "../../src/surfaces/mcp/prompts.ts";
import { RESOURCE_KINDS } from "../../src/surfaces/mcp/resource-kinds.ts";
import { sessionEndpoints } from "../../src/surfaces/session/endpoints.ts";
import { ADVICE, STEP_ADVICE } from "./error-advice.ts";
import { generatedNotice, table } from "./table.ts";

/** The two error tables of docs/troubleshooting.md, in Markdown. */
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

REST returns them as problem details (RFC 9457) with \`code\`, \`detail\` and \`request_id\`; MCP returns the same in the
tool's result. The log has a line with the request id.

${table(["code", "status", "meaning", "what to do"], ofRequests)}

## Errors of steps

They are in a run's \`error\` and in its steps. \`retry\` without \`on\` repeats the transient ones only.

${table(["code", "meaning", "transient", "what to do"], ofSteps)}`;
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
    `\`${name}\`${required.includes(name) ? " (required)" : ""}`,
    inWhere(name),
    typeOf(property),
    (property.description ?? "") +
      (property.default === undefined ? "" : ` Default: \`${JSON.stringify(property.default)}\`.`),
  ]);
  return rows.length === 0 ? "It takes no input." : table(["field", "in", "type", "description"], rows);
}

const errorList = (codes: readonly string[]): string =>
  codes.length === 0
    ? ""
    : `\n\nErrors: ${codes.map((code) => `[\`${code}\`](../troubleshooting.md#errors-of-requests)`).join(", ")}.`;

const byNoun = (catalogue: readonly AnyTool[]) =>
  Map.groupBy(catalogue, (tool) => parseRoute(tool).path.split("/")[1]!);

/** docs/reference/rest.md */
export function restPage(catalogue: readonly AnyTool[]): string {
  const parts = [...byNoun(catalogue.filter((tool) => isServedOn(tool, "rest")))].map(
    ([noun, tools]) => `## /${noun}\n\n${tools.map(restOperation).join("\n\n")}`,
  );
  const sessions = table(
    ["endpoint", "name", "description", "built-in sign-in only"],
    sessionEndpoints.map(({ method, path, name, description, builtInOnly }) => [
      `\`${method} ${path}\``,
      `\`${name}\``,
      description,
      builtInOnly ? "yes" : "no",
    ]),
  );
  return `${generatedNotice("the catalogue in tools/")}

# REST reference

This page lists every operation. [HTTP API](../http-api.md) explains the conventions (errors, paging, \`If-Match\`,
\`Idempotency-Key\`). A running server has the same reference at \`/apidoc\`, with examples to try and the OpenAPI document to
download. The scope is the one that the API key, or the user's role, must have.

${parts.join("\n\n")}

## /session

The web interface uses these endpoints to sign users in. They need no API key, and scripts have no use for them.

${sessions}
`;
}

function restOperation(tool: AnyTool): string {
  const { method, path, parameters } = parseRoute(tool);
  const inWhere = (name: string): string =>
    tool.headers?.[name] ?? (parameters.includes(name) ? "path" : method === "GET" ? "query" : "body");
  const who = tool.requiresUser ? "signed-in user" : "API key or signed-in user";
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

${tool.title} · scope \`${tool.scope}\` · ${tool.effect === "read" ? "read-only" : `effect: ${tool.effect}`}

${tool.description}

${fieldTable(tool.input as z.ZodType, () => "arguments")}${errorList(tool.errors)}`,
  );
  const resources = table(
    ["URI", "read by", "type", "description"],
    RESOURCE_KINDS.map(({ template, operation, mimeType, description }) => [
      `\`${template}\``,
      `\`${operation}\``,
      `\`${mimeType}\``,
      description,
    ]),
  );
  const prompts = table(
    ["prompt", "argument", "for keys that can use", "description"],
    Object.entries(PROMPTS).map(([name, { argument, operation, description }]) => [
      `\`${name}\``,
      `\`${argument.name}\`: ${argument.description}`,
      `\`${operation}\``,
      description,
    ]),
  );
  return `${generatedNotice("the catalogue in tools/")}

# MCP reference

The MCP server has these ${tools.length} tools, at \`/mcp\` and \`/sse\` alike, and a tool for each published workflow with
\`expose_as_tool\`. [Connecting agents](../connecting-agents.md) explains how to connect, and [MCP](../mcp.md) describes the
protocol revisions.

${parts.join("\n\n")}

## Resources

${resources}

## Prompts

${prompts}
`;
}

/** docs/reference/key-changes.md */
export function keyChangesPage(): string {
  const entries = { ...RECORDED_OPERATIONS, ...RECORDED_OF_RUNS };
  const rows = Object.entries(entries)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, { label, revert, remains }]) => [`\`${name}\``, label, revert ?? "nothing", remains]);
  return `${generatedNotice("src/core/recorded-operations.ts")}

# What a key did, by operation

\`get_key_changes\` lists [all that a key did](../accounts.md#a-key-that-did-damage), and \`revert_key_changes\` reverts a part of
it. The table has every operation that leaves an entry in the audit log, and what runs leave there in the name of who started
them. An operation that is not in it does not compile. Operations that are only for people are here too: no key can use them.

${table(["operation", "what the key did", "a revert", "otherwise"], rows)}
`;
}
