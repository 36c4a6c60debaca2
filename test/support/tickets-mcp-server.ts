/** The MCP server of the examples' tool step, over stdio. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "tickets", version: "1.0.0" });
server.registerTool(
  "get_ticket",
  { inputSchema: { id: z.string() }, outputSchema: { id: z.string(), status: z.string() } },
  ({ id }) => {
    const ticket = { id, status: "open" };
    return { content: [{ type: "text", text: JSON.stringify(ticket) }], structuredContent: ticket };
  },
);
await server.connect(new StdioServerTransport());
