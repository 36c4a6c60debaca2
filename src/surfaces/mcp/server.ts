/** The MCP server of one request, session or stream: a cheap shell around the catalogue. */
import {
  type AuthInfo,
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { IncomingHttpHeaders } from "node:http";
import type { Issue } from "../../../schemas/problem.ts";
import { AppError, ERRORS, toAppError, toProblem } from "../../core/errors.ts";
import { newRequestId } from "../../core/ids.ts";
import { nearMatch } from "../../core/near-match.ts";
import type { Principal } from "../../core/ports.ts";
import { type AnyTool, type Progress, isServedOn } from "../../core/tool.ts";
import { clientName } from "../client-name.ts";
import { type Call, invoke, type Services } from "../invoke.ts";
import { elicitMissingInput, supportsFormElicitation } from "./elicitation.ts";
import { type ExposedTools, exposedWorkflows } from "./exposed-workflows.ts";
import { listTools, type ListedTool } from "./tool-list.ts";

/** What a server answers by itself. */
export interface McpHandlers {
  tools: readonly ListedTool[];
  call(request: CallToolRequest, ctx: ServerContext): Promise<CallToolResult | InputRequiredResult>;
}

/** Registers further handlers on a new server, beside or around those of the catalogue. */
export type ExtendServer = (server: Server, handlers: McpHandlers) => void;

export interface McpServerOptions {
  catalogue: readonly AnyTool[];
  services: Services;
  version: string;
  extendServer?: ExtendServer | undefined;
}

/** Where the legs tell what no answer can. */
export interface ErrorReporter {
  /** Something of ours failed. */
  onError(this: void, error: unknown): void;
  /** The SDK refused what a client sent. */
  onRejected(this: void, error: Error): void;
}

export interface McpServerFactory {
  /** A new server; it holds no state of ours. */
  create(): Server;
  /** The workflows that are tools of their own. */
  exposedTools(): Promise<ExposedTools>;
  /** How many calls are being carried out now. */
  inFlight(): number;
}

const INSTRUCTIONS =
  "Millrace stores workflows: an answer worked out once, written down, checked, and from then on run by anyone in the " +
  "same way. Search with list_workflows before you create one, and run existing ones with run_workflow. To write one: " +
  "describe_environment (then with topic definition), describe_database, create_workflow, fix its issues with " +
  "update_workflow, publish_workflow. When a run fails: get_run, then retry_run. Error messages say what to do next.";

/** Behind every workflow that is a tool of its own. */
const RUN_WORKFLOW = "run_workflow";

/** Who asks, and what else of a request its call must know. */
interface Identity {
  principal: Principal;
  requestId: string;
  /** The trace that its headers name. */
  caller: NonNullable<Call["incomingTrace"]>;
}

/** Who asks, and the id of the request, carried through the SDK as `authInfo`. The key itself goes no further. */
export const toAuthInfo = (
  principal: Principal,
  requestId = newRequestId(),
  { traceparent, tracestate }: IncomingHttpHeaders = {},
): AuthInfo => ({
  token: "",
  clientId: principal.keyId,
  scopes: [...principal.scopes],
  extra: { principal, requestId, caller: { traceparent, tracestate } } satisfies Identity,
});

/** Makes MCP servers over one catalogue; lists and schemas are worked out here, once. */
export function mcpServerFactory({
  catalogue,
  services,
  version,
  extendServer,
}: McpServerOptions): McpServerFactory {
  const tools = new Map(catalogue.filter((tool) => isServedOn(tool, "mcp")).map((tool) => [tool.name, tool]));
  const listed = { tools: listTools(catalogue) };
  const runWorkflow = listed.tools.find(({ name }) => name === RUN_WORKFLOW);
  const { workflows } = services.read;
  const exposedTools = exposedWorkflows(
    workflows,
    services.engine.stepTypes,
    runWorkflow,
    new Set(tools.keys()),
  );
  let running = 0;

  async function call(
    server: Server,
    { params: { name, arguments: args } }: CallToolRequest,
    ctx: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { tool, input, below } = await wanted(name, args ?? {});
    const identity = ctx.http?.authInfo?.extra as Identity | undefined;
    if (identity === undefined) throw new ProtocolError(ProtocolErrorCode.InternalError, "No principal");
    const { principal, requestId } = identity;
    running += 1;
    try {
      const asking: Call = {
        actor: { principal, client: { surface: "mcp", name: nameOf(server, ctx) } },
        requestId,
        signal: ctx.mcpReq.signal,
        progress: progressOf(ctx),
        incomingTrace: callerOf(ctx, identity),
        attributes: {
          "rpc.system": "jsonrpc",
          "rpc.method": "tools/call",
          "mcp.method.name": "tools/call",
          "gen_ai.tool.name": tool.name,
        },
      };
      const asked = supportsFormElicitation(server)
        ? await elicitMissingInput(services, tool, input, asking, ctx)
        : { input };
      if ("question" in asked) return asked.question;
      const output = await invoke(services, tool, asked.input, asking);
      return {
        content: [{ type: "text" as const, text: JSON.stringify(output) }],
        structuredContent: output as Record<string, unknown>,
      };
    } catch (thrown) {
      return refusal(withoutPrefix(toAppError(thrown), below), requestId);
    } finally {
      running -= 1;
    }
  }

  /** The operation behind a name, with its input; `below` is where the arguments stand in that. */
  async function wanted(name: string, args: Record<string, unknown>) {
    const tool = tools.get(name);
    if (tool !== undefined) return { tool, input: args, below: "" };
    const { workflowIds } = await exposedTools();
    const id = workflowIds.get(name);
    if (id === undefined) throw unknownTool(name, [...tools.keys(), ...workflowIds.keys()]);
    return { tool: tools.get(RUN_WORKFLOW)!, input: { workflow_id: id, inputs: args }, below: "inputs" };
  }

  return {
    exposedTools,
    inFlight: () => running,
    create() {
      const server = new Server(
        { name: "millrace", title: "Millrace", version },
        { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS },
      );
      const served: McpHandlers = { ...listed, call: (request, ctx) => call(server, request, ctx) };
      server.setRequestHandler("tools/list", async () => ({
        tools: [...listed.tools, ...(await exposedTools()).tools],
      }));
      server.setRequestHandler("tools/call", served.call);
      extendServer?.(server, served);
      return server;
    },
  };
}

/** The caller's trace: that of the call itself before that of the request which carried it. @see SEP-414 */
function callerOf({ mcpReq }: ServerContext, { caller }: Identity): NonNullable<Call["incomingTrace"]> {
  const { traceparent, tracestate } = mcpReq._meta ?? {};
  return traceparent === undefined ? caller : { traceparent, tracestate };
}

/** A client that asked for progress gets it while the call goes on: it must grow with every notification. */
function progressOf({ mcpReq }: ServerContext): ((progress: Progress) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let last = -1;
  return ({ done, total, message }) => {
    if (done <= last) return;
    last = done;
    // Who has gone is told by the signal.
    mcpReq
      .notify({
        method: "notifications/progress",
        params: { progressToken, progress: done, total, message },
      })
      .catch(() => {});
  };
}

/** Tells the faults of `inputs` by where they stand in what was sent. */
function withoutPrefix(error: AppError, prefix: string): AppError {
  const { errors, headers } = error.details;
  if (prefix === "" || errors === undefined) return error;
  const moved = errors.map((issue) => above(issue, prefix));
  return new AppError(error.code, error.message, { errors: moved, ...(headers && { headers }) });
}

const above = (issue: Issue, prefix: string): Issue => {
  const { path } = issue;
  const inside = path === prefix || path.startsWith(`${prefix}.`);
  return inside ? { ...issue, path: path.slice(prefix.length + 1) } : issue;
};

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
