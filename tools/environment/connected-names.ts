/** The tables of all databases and the tools of all MCP servers, in short: what a definition names. */
import { z } from "zod";
import { AppError } from "../../src/core/errors.ts";
import type { Connections, McpTool, TableDescription } from "../../src/core/connections.ts";
import { formatShape } from "../../src/core/format-shape.ts";
import { shapeOfReturnedValue } from "../../src/core/json-schema/index.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { callContextOf, type ToolContext } from "../../src/core/tool.ts";

/** Maximum size of all tables with their columns together, in characters. Others are listed by name only. */
const TABLES_CHARS = 5_000;
/** Maximum number of tables of a database that are listed by name only. */
const MAX_NAMES = 40;
/** Maximum number of tables of a database that are read. */
const MAX_TABLES = 200;
/** Maximum size of all tools with their arguments together in an answer that has all parts, in characters. Others are listed by name only. */
export const TOOLS_CHARS = 3_000;
/** Maximum number of tools of a server. */
const MAX_TOOLS = 40;
/** Maximum length of the output of a tool, in characters. A longer one is cut, and ends with an ellipsis. */
const MAX_OUTPUT_CHARS = 200;
/** How long a database or a server may take, in milliseconds: one that is slow must not delay the answer about the others. */
const TIMEOUT_MS = 5_000;

const unreadable = z.string().optional().meta({
  description: "Why its contents can't be listed now.",
  example: "The database does not answer.",
});

export const DatabaseTables = z
  .strictObject({
    database: z.string().meta({ example: "shop" }),
    tables: z.array(z.string()).meta({
      description: "Each with its columns and their types; ? marks those that may be null.",
      example: ["orders (1200 rows): id INTEGER, region TEXT, note TEXT?"],
    }),
    others: z
      .array(z.string())
      .optional()
      .meta({
        description: "Further tables, without their columns: describe_database with table returns these.",
        example: ["audit_2024"],
      }),
    total: z.int().optional().meta({
      description: "Number of all tables, when not all are named; at most 200 are counted.",
      example: 120,
    }),
    unreadable,
  })
  .meta({ id: "DatabaseTables", description: "The tables of a database, in short." });

export const ServerTools = z
  .strictObject({
    server: z.string().meta({ example: "crm" }),
    tools: z.array(z.string()).meta({
      description:
        "Each with its arguments (an asterisk marks required ones) and, where the server declares it, its output; … ends a cut one.",
      example: ["search(query*, limit): {hits: [text]}"],
    }),
    others: z
      .array(z.string())
      .optional()
      .meta({
        description: "Further tools, without their arguments: `fields` with `tools` returns these.",
        example: ["merge_customers"],
      }),
    total: z
      .int()
      .optional()
      .meta({ description: "Number of all tools, when not all are named.", example: 120 }),
    unreadable,
  })
  .meta({ id: "ServerTools", description: "The tools of an MCP server, in short." });

/** Reads the tables of every database that can be used. */
export async function tablesOf(
  ctx: ToolContext,
  { databases }: Pick<Connections, "databases">,
): Promise<z.output<typeof DatabaseTables>[]> {
  const usable = databases.list().filter(({ unavailableReason }) => unavailableReason === null);
  const share = Math.floor(TABLES_CHARS / Math.max(1, usable.length));
  return Promise.all(
    usable.map(async ({ name: database }) => {
      const read = (call: ReturnType<typeof callContextOf>) =>
        databases.describe(database, { table: undefined, samples: 0, limit: MAX_TABLES }, call);
      const tables = await withinTime(ctx, read);
      if (!Array.isArray(tables)) return { database, tables: [], unreadable: tables.unreadable };
      return Object.assign({ database }, withinShare(tables, share));
    }),
  );
}

/** The tables with their columns as far as the share suffices, then names. */
function withinShare(
  tables: readonly TableDescription[],
  share: number,
): Omit<z.output<typeof DatabaseTables>, "database"> {
  const lines = fitting(tables.map(tableLine), share);
  const others = tables.slice(lines.length, lines.length + MAX_NAMES).map(({ name }) => name);
  const named = lines.length + others.length;
  return {
    tables: lines,
    ...(others.length > 0 && { others }),
    ...(named < tables.length && { total: tables.length }),
  };
}

const tableLine = ({ name, kind, columns, row_count: rows }: TableDescription): string => {
  const facts = [...(kind === "view" ? ["view"] : []), ...(rows === null ? [] : [`${rows} rows`])];
  const listed = columns.map((column) => `${column.name} ${column.type}${column.nullable ? "?" : ""}`);
  return `${name}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}: ${listed.join(", ")}`;
};

/** Reads the tools of every MCP server that can be used. @param options.maxChars of all tools with their arguments together */
export async function toolsOf(
  ctx: ToolContext,
  { mcpServers }: Pick<Connections, "mcpServers">,
  { maxChars }: { maxChars: number },
): Promise<z.output<typeof ServerTools>[]> {
  const usable = mcpServers.list().filter(({ unavailableReason }) => unavailableReason === null);
  const share = Math.floor(maxChars / Math.max(1, usable.length));
  return Promise.all(
    usable.map(async ({ name: server }) => {
      const tools = await withinTime(ctx, (call) => mcpServers.tools(server, call));
      if (!Array.isArray(tools)) return { server, tools: [], unreadable: tools.unreadable };
      const named = tools.slice(0, MAX_TOOLS);
      const lines = fitting(named.map(toolLine), share);
      const others = named.slice(lines.length).map(({ name }) => name);
      return Object.assign(
        { server, tools: lines },
        others.length > 0 && { others },
        tools.length > MAX_TOOLS && { total: tools.length },
      );
    }),
  );
}

const toolLine = ({ name, inputSchema, outputSchema }: McpTool): string =>
  `${name}(${argumentsOf(inputSchema)})${outputSchema === null ? "" : `: ${outputOf(outputSchema)}`}`;

/** The first lines that fit into a share. @param share in characters */
function fitting(lines: readonly string[], share: number): string[] {
  let left = share;
  const end = lines.findIndex((line) => (left -= line.length) < 0);
  return end < 0 ? [...lines] : lines.slice(0, end);
}

function argumentsOf(schema: Readonly<Record<string, unknown>>): string {
  const required = new Set(Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : []);
  const names = Object.keys((schema["properties"] as object | undefined) ?? {});
  return names.map((name) => `${name}${required.has(name) ? "*" : ""}`).join(", ");
}

function outputOf(schema: Readonly<Record<string, unknown>>): string {
  const text = formatShape(shapeOfReturnedValue(schema));
  return text.length <= MAX_OUTPUT_CHARS ? text : `${text.slice(0, MAX_OUTPUT_CHARS)}…`;
}

/** @returns what `read` returns, or why it can't be read */
async function withinTime<T>(
  ctx: ToolContext,
  read: (call: ReturnType<typeof callContextOf>) => Promise<T[]>,
): Promise<T[] | { unreadable: string }> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await read({ ...callContextOf(ctx), signal: AbortSignal.any([ctx.signal, timeout]) });
  } catch (error) {
    if (timeout.aborted && !ctx.signal.aborted)
      return { unreadable: `It did not answer within ${TIMEOUT_MS / 1_000} s.` };
    if (error instanceof StepError || error instanceof AppError) return { unreadable: error.message };
    throw error;
  }
}
