/** A stdio MCP server with the v2 SDK that supports only the revision 2026-07-28. */
import { inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

serveStdio(
  () => {
    const server = new McpServer({ name: "modern", version: "1.0.0" });
    server.registerTool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
      content: [{ type: "text", text: String(a + b) }],
    }));
    server.registerTool("ask", {}, () =>
      inputRequired({
        inputRequests: {
          name: inputRequired.elicit({
            message: "Your name?",
            requestedSchema: { type: "object", properties: { name: { type: "string" } } },
          }),
        },
      }),
    );
    return server;
  },
  { legacy: "reject" },
);
