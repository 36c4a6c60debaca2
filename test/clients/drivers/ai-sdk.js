import { createMCPClient } from "@ai-sdk/mcp";

export async function connect({ url, transport, headers }) {
  const client = await createMCPClient({ transport: { type: transport, url, headers }, maxRetries: 0 });
  const tools = await client.tools();
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args) => tools[name].execute(args, { toolCallId: "1", messages: [] }),
    close: () => client.close(),
  };
}
