import { MultiServerMCPClient } from "@langchain/mcp-adapters";

export async function connect({ url, transport, headers }) {
  const client = new MultiServerMCPClient({
    mcpServers: { millrace: { transport, url, headers } },
    prefixToolNameWithServerName: false,
  });
  const tools = await client.getTools();
  return {
    list: async () => (await client.getTools()).map(({ name }) => name),
    call: (name, args) => tools.find((tool) => tool.name === name).invoke(args),
    close: () => client.close(),
  };
}
