/** Tools of the mock MCP servers, with the v1 SDK. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

/** `JSON.rawJSON` of Node 22, which the types don't have yet. */
const rawJson = (digits: string): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits);

const said = (text: string) => ({ content: [{ type: "text" as const, text }] });

/** @param die ends the server as a crash would */
export function toolServer(die: () => void): McpServer {
  const server = new McpServer(
    { name: "peer", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.registerTool(
    "add",
    {
      description: "Adds.",
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ ...said(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool("say", { inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [
      { type: "text", text },
      { type: "image", data: "AAAA", mimeType: "image/png" },
    ],
  }));
  server.registerTool(
    "refuse",
    { inputSchema: { text: z.string().optional() } },
    ({ text = "out of stock" }) => ({ ...said(text), isError: true }),
  );
  server.registerTool("big", { inputSchema: { bytes: z.number() } }, ({ bytes }) => said("x".repeat(bytes)));
  server.registerTool(
    "find",
    {
      inputSchema: { id: z.number().optional() },
      outputSchema: { name: z.string().optional(), id: z.number().optional() },
    },
    ({ id }) => ({ ...said("found"), structuredContent: id === undefined ? {} : { id } }),
  );
  // JSON with digits that a number of JavaScript can't hold, as servers in other languages write it.
  server.registerTool(
    "write_number",
    { inputSchema: { digits: z.string() }, outputSchema: { n: z.any() } },
    ({ digits }) => ({ ...said(digits), structuredContent: { n: rawJson(digits) } }),
  );
  server.registerTool(
    "fill",
    {
      inputSchema: { rows: z.number() },
      outputSchema: { rows: z.array(z.object({ text: z.string().default("x".repeat(1_000)).optional() })) },
    },
    ({ rows }) => ({
      ...said("filled"),
      structuredContent: { rows: Array.from({ length: rows }, () => ({})) },
    }),
  );
  server.registerTool("hang", {}, () => new Promise<never>(() => undefined));
  server.registerTool("die", {}, () => {
    die();
    return new Promise<never>(() => undefined);
  });
  server.registerTool("environment", {}, () => said(JSON.stringify(Object.keys(process.env).toSorted())));
  server.registerTool("meta", {}, (extra) => said(JSON.stringify(extra._meta ?? null)));
  server.registerTool("pid", {}, () => said(String(process.pid)));
  server.registerTool("grow", {}, () => {
    server.registerTool("grown", {}, () => said("new"));
    return said("grown");
  });
  server.registerTool("grow_quietly", {}, () => {
    server.sendToolListChanged = () => undefined;
    server.registerTool("grown", {}, () => said("new"));
    return said("grown");
  });
  server.registerTool("ask", {}, async () => {
    const answer = await server.server.request(
      {
        method: "elicitation/create",
        params: {
          message: "Your name?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } } },
        },
      },
      z.object({ action: z.string() }),
    );
    return said(answer.action);
  });
  return server;
}
