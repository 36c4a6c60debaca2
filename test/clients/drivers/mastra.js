import { MCPClient } from "@mastra/mcp";

export async function connect({ url, headers }) {
  const client = new MCPClient({
    id: crypto.randomUUID(),
    servers: {
      millrace: {
        url: new URL(url),
        requestInit: { headers },
        eventSourceInit: {
          fetch: (at, init) => fetch(at, { ...init, headers: { ...init?.headers, ...headers } }),
        },
      },
    },
  });
  const tools = await client.listTools();
  return {
    list: async () => Object.keys(await client.listTools()).map((name) => name.replace(/^millrace_/, "")),
    call: (name, args) => tools[`millrace_${name}`].execute(args, {}),
    close: () => client.disconnect(),
  };
}
