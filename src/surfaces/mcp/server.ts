/** The MCP server of one request, session or stream: a cheap shell around the catalogue. */
import {
  type AuthInfo,
  type CallToolRequest,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type AppError, ERRORS, toAppError, toProblem } from "../../core/errors.ts";
import { newRequestId } from "../../core/ids.ts";
import { nearMatch } from "../../core/near-match.ts";
import type { Principal } from "../../core/ports.ts";
import { type AnyTool, servedOn } from "../../core/tool.ts";
import { clientName } from "../client-name.ts";
import { invoke, type Services } from "../invoke.ts";
import { listTools, type ListedTool } from "./tool-list.ts";

/** What a server answers by itself. */
export interface Served {
  tools: readonly ListedTool[];
  call(request: CallToolRequest, ctx: ServerContext): Promise<CallToolResult>;
}

/** Makes a server answer more than the catalogue; the conformance suite's fixtures come in this way, in tests only. */
type Extend = (server: Server, served: Served) => void;

export interface McpServerOptions {
  catalogue: readonly AnyTool[];
  services: Services;
  version: string;
  extend?: Extend | undefined;
}

/** Where the legs tell what no answer can. */
export interface Report {
  /** Something of ours failed. */
  failed(this: void, error: unknown): void;
  /** The SDK refused what a client sent. */
  refused(this: void, error: Error): void;
}

export interface McpServers {
  /** A new server; it holds no state of ours. */
  create(): Server;
  /** How many calls are being carried out now. */
  inFlight(): number;
}

const INSTRUCTIONS =
  "Millrace keeps workflows: a question answered once, written down, checked, and from then on run by anyone, the " +
  "same way each time. Look with list_workflows before you create one; get_workflow gives one whole; change it with " +
  "update_workflow and hand over the version you started from as if_match. Errors say what to do next.";

/** Who asks, and the id of the request, carried through the SDK as `authInfo`. The key itself goes no further. */
export const toAuthInfo = (principal: Principal, requestId = newRequestId()): AuthInfo => ({
  token: "",
  clientId: principal.keyId,
  scopes: [...principal.scopes],
  extra: { principal, requestId },
});

/** Makes MCP servers over one catalogue; lists and schemas are worked out here, once. */
export function mcpServers({ catalogue, services, version, extend }: McpServerOptions): McpServers {
  const tools = new Map(catalogue.filter((tool) => servedOn(tool, "mcp")).map((tool) => [tool.name, tool]));
  const listed = { tools: listTools(catalogue) };
  let running = 0;

  async function call(
    server: Server,
    { params: { name, arguments: args } }: CallToolRequest,
    ctx: ServerContext,
  ): Promise<CallToolResult> {
    const tool = tools.get(name);
    if (tool === undefined) throw unknownTool(name, tools.keys());
    const asked = ctx.http?.authInfo?.extra as { principal: Principal; requestId: string } | undefined;
    if (asked === undefined) throw new ProtocolError(ProtocolErrorCode.InternalError, "No principal");
    const { principal, requestId } = asked;
    running += 1;
    try {
      const output = await invoke(services, tool, args ?? {}, {
        actor: { principal, client: { surface: "mcp", name: nameOf(server, ctx) } },
        requestId,
        signal: ctx.mcpReq.signal,
      });
      return {
        content: [{ type: "text" as const, text: JSON.stringify(output) }],
        structuredContent: output as Record<string, unknown>,
      };
    } catch (thrown) {
      return refusal(toAppError(thrown), requestId);
    } finally {
      running -= 1;
    }
  }

  return {
    inFlight: () => running,
    create() {
      const server = new Server(
        { name: "millrace", title: "Millrace", version },
        { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
      );
      const served: Served = { ...listed, call: (request, ctx) => call(server, request, ctx) };
      server.setRequestHandler("tools/list", () => listed);
      server.setRequestHandler("tools/call", served.call);
      extend?.(server, served);
      return server;
    },
  };
}

/** An error as the model reads it: the same problem that REST sends, in words it can act on. */
function refusal(error: AppError, requestId: string) {
  if (ERRORS[error.code].mcp === "protocol") {
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, error.message, toProblem(error, requestId));
  }
  return {
    isError: true,
    content: [{ type: "text" as const, text: JSON.stringify(toProblem(error, requestId)) }],
  };
}

function unknownTool(name: string, known: Iterable<string>): ProtocolError {
  const names = [...known];
  const near = nearMatch(name, names);
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool "${name.slice(0, 100)}". ` +
      (near === undefined ? `The tools are ${names.join(", ")}.` : `Did you mean ${near}?`),
  );
}

function nameOf(server: Server, ctx: ServerContext): string {
  const named = server.getClientVersion();
  return clientName(
    named === undefined ? ctx.http?.req?.headers.get("user-agent") : `${named.name}/${named.version}`,
  );
}
