import { MCPClient } from "mcp-use/client";

export async function connect({ url, transport, headers }) {
  const client = new MCPClient({
    mcpServers: { millrace: { url, headers, transport, preferSse: transport === "sse" } },
  });
  const { connector } = await client.createSession("millrace");
  return {
    list: async () => (await connector.listTools()).map(({ name }) => name),
    call: (name, args) => connector.callTool(name, args),
    close: () => client.closeAllSessions(),
  };
}
