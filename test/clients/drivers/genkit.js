import { createMcpClient } from "@genkit-ai/mcp";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { genkit } from "genkit";

export async function connect({ url, transport, headers }) {
  const ai = genkit({});
  const requestInit = { headers };
  const client = createMcpClient({
    name: "millrace",
    rawToolResponses: true,
    mcpServer:
      transport === "sse"
        ? { transport: new SSEClientTransport(new URL(url), { requestInit }) }
        : { url, requestInit },
  });
  await client.ready();
  const tools = async () =>
    new Map((await client.getActiveTools(ai)).map((tool) => [tool.__action.name.split("/").at(-1), tool]));
  const known = await tools();
  return {
    list: async () => [...(await tools()).keys()],
    call: (name, args) => known.get(name)(args),
    close: () => client.disable(),
  };
}
