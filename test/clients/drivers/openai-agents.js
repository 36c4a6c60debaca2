import { MCPServerSSE, MCPServerStreamableHttp } from "@openai/agents";

export async function connect({ url, transport, headers }) {
  const Server = transport === "sse" ? MCPServerSSE : MCPServerStreamableHttp;
  const server = new Server({
    url,
    name: "millrace",
    requestInit: { headers },
    ...(transport === "sse" && {
      eventSourceInit: {
        fetch: (at, init) => fetch(at, { ...init, headers: { ...init?.headers, ...headers } }),
      },
    }),
  });
  await server.connect();
  return {
    list: async () => (await server.listTools()).map(({ name }) => name),
    call: (name, args) => server.callToolResult(name, args),
    close: () => server.close(),
  };
}
