/** Lists the tools of a server, page by page. */
import { type Client, ProtocolError, type Tool } from "@modelcontextprotocol/client";
import { StepError } from "../../core/step-errors.ts";

/** Maximum number of pages of a tool list. */
const MAX_PAGES = 20;
/** The code of JSON-RPC for a method that the server does not know. */
const METHOD_NOT_FOUND = -32_601;

type Page = Awaited<ReturnType<Client["listTools"]>>;

/**
 * Returns the tools of all pages, each name once. A list ends with a cursor that was there before, which would repeat its pages, and
 * where the server does not know its own empty cursor.
 * @throws StepError tool_failed for more than `MAX_PAGES` pages; what the SDK throws
 */
export async function listTools(
  client: Client,
  server: string,
  options: { timeout: number; signal: AbortSignal },
): Promise<Tool[]> {
  const tools = new Map<string, Tool>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await fetchPage(client, cursor, options);
    for (const tool of page?.tools ?? []) if (!tools.has(tool.name)) tools.set(tool.name, tool);
    cursor = page?.nextCursor;
    if (cursor === undefined || cursors.has(cursor)) return [...tools.values()];
    cursors.add(cursor);
  } while (cursors.size < MAX_PAGES);
  throw new StepError(
    "tool_failed",
    `The MCP server ${server} lists its tools on more than ${MAX_PAGES} pages.`,
    {
      fix: "Let the server list its tools on fewer pages.",
      transient: false,
    },
  );
}

async function fetchPage(
  client: Client,
  cursor: string | undefined,
  options: { timeout: number; signal: AbortSignal },
): Promise<Page | undefined> {
  const params = cursor === undefined ? {} : { params: { cursor } };
  try {
    return await client.request({ method: "tools/list", ...params }, options);
  } catch (error) {
    if (cursor === "" && error instanceof ProtocolError) return undefined;
    // Some servers have tools without announcing them; this one has none.
    const isAnnounced = client.getServerCapabilities()?.tools !== undefined;
    if (!isAnnounced && error instanceof ProtocolError && error.code === METHOD_NOT_FOUND) return undefined;
    throw error;
  }
}
