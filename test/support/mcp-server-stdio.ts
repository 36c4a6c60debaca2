/** A stdio MCP server made with the v1 SDK; `broken` says something and ends instead. */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { toolServer } from "./mcp-server-tools.ts";

if (process.argv[2] === "broken") {
  process.stderr.write(`no such license: ${process.env["PEER_TOKEN"]}\n`);
  process.exitCode = 3;
} else {
  await toolServer(() => process.kill(process.pid, "SIGKILL")).connect(new StdioServerTransport());
}
