import { z } from "zod";
import { text } from "../../schemas/text.ts";
import type { PartialIssue } from "../core/connections.ts";
import { nearMatch } from "../core/near-match.ts";
import { ANY, objectOf } from "../core/shapes.ts";
import { StepError } from "../core/step-errors.ts";
import {
  defineStepType,
  literal,
  type StepCheck,
  type StepCheckContext,
  template,
} from "../core/step-type.ts";
import { SECOND } from "../core/clock.ts";
import { asWritten } from "./as-written.ts";
import { argumentIssues } from "./arguments.ts";
import { shapeOfReturnedValue } from "../core/json-schema/index.ts";
import { CORRECT_ENTRY } from "../core/unusable-entries.ts";

/** Maximum number of names in the `allowed` of an issue. */
const MAX_LISTED = 100;

export const toolStep = defineStepType({
  type: "tool",
  title: "Call a tool",
  description:
    "Calls one tool of a configured MCP server. Its structured content, or else its text, is in output. " +
    "It fails with tool_failed.",
  fields: {
    server: literal(
      text(63, 1).meta({ description: "The name of an MCP server in the configuration.", example: "crm" }),
    ),
    tool: literal(
      text(200, 1).meta({ description: "The name of the tool on that server.", example: "find_customer" }),
    ),
    arguments: template(
      z
        .record(z.string(), z.unknown())
        .default({})
        .meta({ description: "The arguments of the tool.", example: { email: "${{ inputs.email }}" } }),
    ),
  },
  example: {
    id: "customer",
    type: "tool",
    server: "crm",
    tool: "find_customer",
    arguments: { email: "${{ inputs.email }}" },
  },
  output: objectOf({ output: ANY }),
  timeoutMs: 60 * SECOND,
  hasEffects: () => true,
  canLookUp: "any",
  sendsIdempotencyKey: true,
  describeEffect: ({ server, tool }) => ({
    words: `Calls the tool ${asWritten(tool)} of the server ${asWritten(server)}`,
    does: "calls",
    targets: [`${asWritten(server)}/${asWritten(tool)}`],
  }),
  resource: (step) => (typeof step["server"] === "string" ? `mcp_server:${step["server"]}` : null),
  spanAttributes: ({ server, tool }) => ({
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": String(tool),
    "millrace.mcp_server": String(server),
  }),
  check: async (step, ctx) => {
    const { server, tool } = step;
    if (typeof server !== "string" || typeof tool !== "string") return { issues: [] };
    const issues = serverIssues(server, ctx);
    if (issues.length > 0) return { issues };
    try {
      const tools = await ctx.connections.mcpServers.tools(server, ctx);
      const found = tools.find(({ name }) => name === tool);
      if (found === undefined)
        return {
          issues: [
            unknownNameIssue(
              "tool",
              tool,
              tools.map(({ name }) => name),
            ),
          ],
        };
      return {
        ...toCheck(argumentIssues("arguments", found.inputSchema, step, ctx), found.outputSchema),
        readOnly: found.readOnly,
      };
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      const { message, options } = error;
      return {
        issues: [{ path: ["server"], code: error.code, message, ...(options.fix && { fix: options.fix }) }],
      };
    }
  },
  run: async (input, ctx) => {
    const { mcpServers } = ctx.connections;
    const options = { idempotencyKey: ctx.idempotencyKey, trace: ctx.trace };
    const output = await mcpServers.call(input.server, input.tool, input.arguments, options, ctx);
    return { kind: "done", output: { output } };
  },
});

const toCheck = (issues: PartialIssue[], outputSchema: unknown): StepCheck => ({
  issues,
  ...(outputSchema !== null && { output: objectOf({ output: shapeOfReturnedValue(outputSchema) }) }),
});

function serverIssues(server: string, { connections }: StepCheckContext): PartialIssue[] {
  const servers = connections.mcpServers.list();
  const entry = servers.find(({ name }) => name === server);
  if (entry === undefined)
    return [
      unknownNameIssue(
        "server",
        server,
        servers.map(({ name }) => name),
      ),
    ];
  if (entry.unavailableReason === null) return [];
  return [
    {
      path: ["server"],
      code: "unusable",
      message: `is unavailable: ${entry.unavailableReason}`,
      fix: CORRECT_ENTRY,
    },
  ];
}

function unknownNameIssue(field: string, name: string, names: readonly string[]): PartialIssue {
  const near = nearMatch(name, names);
  return {
    path: [field],
    code: `unknown_${field}`,
    message: `must be the name of ${field === "tool" ? "a tool of the server" : "a configured MCP server"}, got ${name.slice(0, 100)}`,
    allowed: names.slice(0, MAX_LISTED),
    ...(near !== undefined && { did_you_mean: near, fix: `Write ${near}.` }),
  };
}
