/** The MCP server of one request, session or stream. It is a thin layer over the catalogue, and cheap to create. */
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
import { sizeUpTo } from "../../core/json-schema/json-size.ts";
import { nearMatch } from "../../core/near-match.ts";
import { nextTurn } from "../../core/next-turn.ts";
import type { Principal } from "../../core/ports.ts";
import { type AnyTool, type Progress, isServedOn } from "../../core/tool.ts";
import { clientName } from "../client-name.ts";
import { type Call, invoke, LARGE_INPUT, type Services } from "../invoke.ts";
import { elicitMissingInput, supportsFormElicitation } from "./elicitation.ts";
import { type ExposedTools, exposedWorkflows } from "./exposed-workflows.ts";
import { listTools, type ListedTool } from "./tool-list.ts";

/** The tools and the call handler of a server. */
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

/** Reports errors that no response can carry. */
export interface ErrorReporter {
  /** Reports an internal error. */
  onError(this: void, error: unknown): void;
  /** Reports a message that the SDK refused. */
  onRejected(this: void, error: Error): void;
}

export interface McpServerFactory {
  /** Creates a server; it holds no state. */
  create(): Server;
  /** The workflows that are exposed as tools. */
  exposedTools(): Promise<ExposedTools>;
  /** Number of calls in flight. */
  inFlight(): number;
}

const INSTRUCTIONS =
  "Millrace stores workflows: an answer worked out once, written down, checked, and from then on run by anyone in the " +
  "same way. Search with list_workflows before you create one, and run existing ones with run_workflow. To write one: " +
  "describe_environment (then with topic definition), describe_database, create_workflow, fix its issues with " +
  "update_workflow, publish_workflow. When a run fails: get_run, then retry_run. Error messages say what to do next.";

/** The operation that runs an exposed workflow. */
const RUN_WORKFLOW = "run_workflow";

/** The caller of a request, with the fields of the request that a call needs. */
interface Identity {
  principal: Principal;
  requestId: string;
  /** The trace headers of the HTTP request. */
  incomingTrace: NonNullable<Call["incomingTrace"]>;
  /** Issues of the arguments that only the text of the message shows. */
  argumentIssues: readonly Issue[];
  /** The idempotency key of a call that the client can resume. */
  callKey: string | undefined;
}

/** What a call needs of its HTTP request. */
export interface RequestDetails {
  requestId?: string;
  headers?: IncomingHttpHeaders;
  /** Issues with paths below the arguments of the call. */
  argumentIssues?: readonly Issue[] | undefined;
  /** The idempotency key of the call, unless its arguments have one. */
  callKey?: string | undefined;
}

/** Passes the principal and the request id through the SDK as `authInfo`, without the key. */
export const toAuthInfo = (
  principal: Principal,
  {
    requestId = newRequestId(),
    headers: { traceparent, tracestate } = {},
    argumentIssues = [],
    callKey,
  }: RequestDetails = {},
): AuthInfo => ({
  token: "",
  clientId: principal.keyId,
  scopes: [...principal.scopes],
  extra: {
    principal,
    requestId,
    incomingTrace: { traceparent, tracestate },
    argumentIssues,
    callKey,
  } satisfies Identity,
});

/** Creates MCP servers for one catalogue; lists and schemas are computed once. */
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
  const exposedTools = exposedWorkflows(workflows, runWorkflow, new Set(tools.keys()));
  let running = 0;

  async function call(
    server: Server,
    { params: { name, arguments: args } }: CallToolRequest,
    ctx: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { tool, input, pathPrefix } = await resolveTool(name, args ?? {});
    const identity = ctx.http?.authInfo?.extra as Identity | undefined;
    if (identity === undefined) throw new ProtocolError(ProtocolErrorCode.InternalError, "No principal");
    const { principal, requestId, argumentIssues, callKey } = identity;
    running += 1;
    try {
      // The SDK has copied the arguments in this turn of the event loop.
      if (sizeUpTo(args, LARGE_INPUT) === undefined) await nextTurn();
      const request: Call = {
        actor: { principal, client: { surface: "mcp", name: clientNameOf(server, ctx) } },
        requestId,
        idempotencyKey: callKey,
        signal: ctx.mcpReq.signal,
        progress: progressOf(ctx),
        incomingTrace: incomingTraceOf(ctx, identity),
        attributes: {
          "rpc.system": "jsonrpc",
          "rpc.method": "tools/call",
          "mcp.method.name": "tools/call",
          "gen_ai.tool.name": tool.name,
        },
      };
      const issues = argumentIssues.map((issue) => below(issue, pathPrefix));
      const elicited =
        issues.length === 0 && supportsFormElicitation(server)
          ? await elicitMissingInput(services, tool, input, request, ctx)
          : { input };
      if ("question" in elicited) return elicited.question;
      const output = await invoke(services, tool, elicited.input, request, issues);
      return {
        content: [{ type: "text" as const, text: JSON.stringify(output) }],
        structuredContent: output as Record<string, unknown>,
      };
    } catch (thrown) {
      return toErrorResult(withoutPrefix(toAppError(thrown), pathPrefix), requestId);
    } finally {
      running -= 1;
    }
  }

  /** Finds the operation of a tool name, with its input. `pathPrefix` is the path of the arguments in that input. */
  async function resolveTool(name: string, args: Record<string, unknown>) {
    const tool = tools.get(name);
    if (tool !== undefined) return { tool, input: args, pathPrefix: "" };
    const { workflowIds } = await exposedTools();
    const id = workflowIds.get(name);
    if (id === undefined) throw unknownTool(name, [...tools.keys(), ...workflowIds.keys()]);
    return { tool: tools.get(RUN_WORKFLOW)!, input: { workflow_id: id, inputs: args }, pathPrefix: "inputs" };
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

/** The caller's trace: that of the call, else that of its HTTP request. @see SEP-414 */
function incomingTraceOf(
  { mcpReq }: ServerContext,
  { incomingTrace }: Identity,
): NonNullable<Call["incomingTrace"]> {
  const { traceparent, tracestate } = mcpReq._meta ?? {};
  return traceparent === undefined ? incomingTrace : { traceparent, tracestate };
}

/** Sends progress notifications if the client has asked for them. MCP requires that the value grows each time. */
function progressOf({ mcpReq }: ServerContext): ((progress: Progress) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let last = -1;
  return ({ done, total, message }) => {
    if (done <= last) return;
    last = done;
    // A client that has gone is noticed by the signal.
    mcpReq
      .notify({
        method: "notifications/progress",
        params: { progressToken, progress: done, total, message },
      })
      .catch(() => {});
  };
}

const below = (issue: Issue, prefix: string): Issue =>
  prefix === "" ? issue : { ...issue, path: issue.path === "" ? prefix : `${prefix}.${issue.path}` };

/** Removes a prefix from the paths of issues, so that they refer to the arguments that were sent. */
function withoutPrefix(error: AppError, prefix: string): AppError {
  const { errors, headers } = error.details;
  if (prefix === "" || errors === undefined) return error;
  const relative = errors.map((issue) => relativeTo(issue, prefix));
  return new AppError(error.code, error.message, { errors: relative, ...(headers && { headers }) });
}

const relativeTo = (issue: Issue, prefix: string): Issue => {
  const { path } = issue;
  const inside = path === prefix || path.startsWith(`${prefix}.`);
  return inside ? { ...issue, path: path.slice(prefix.length + 1) } : issue;
};

/** An error as a tool result with the problem details of REST, or as a protocol error. */
function toErrorResult(error: AppError, requestId: string) {
  if (ERRORS[error.code].mcp === "protocol") {
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, error.message, toProblem(error, requestId));
  }
  return {
    isError: true,
    content: [{ type: "text" as const, text: JSON.stringify(toProblem(error, requestId)) }],
  };
}

function unknownTool(name: string, names: readonly string[]): ProtocolError {
  const near = nearMatch(name, names);
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool "${name.slice(0, 100)}". ` +
      (near === undefined ? `The tools are: ${names.join(", ")}.` : `Did you mean ${near}?`),
  );
}

function clientNameOf(server: Server, ctx: ServerContext): string {
  const client = server.getClientVersion();
  return clientName(
    client === undefined ? ctx.http?.req?.headers.get("user-agent") : `${client.name}/${client.version}`,
  );
}
