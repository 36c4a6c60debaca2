/** A stdio MCP server with the v1 SDK; with `broken` it prints a message and exits. */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { toolServer } from "./mcp-server-tools.ts";

if (process.argv[2] === "broken") {
  process.stderr.write(`no such license: ${process.env["PEER_TOKEN"]}\n`);
  process.exitCode = 3;
} else {
  await toolServer(() => process.kill(process.pid, "SIGKILL")).connect(new StdioServerTransport());
}
