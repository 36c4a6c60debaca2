/** Who sent a request to an MCP server: passed through the SDK, and read by the handlers. */
import {
  type AuthInfo,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { IncomingHttpHeaders } from "node:http";
import type { Issue } from "../../../schemas/problem.ts";
import { newRequestId } from "../../core/ids.ts";
import type { Principal } from "../../core/ports.ts";
import { clientName, userAgentName } from "../client-name.ts";
import type { Call } from "../invoke.ts";

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
  /** Whether the answer can carry a question to the person behind the client. */
  canAsk: boolean;
}

/** What a call needs of its HTTP request. */
export interface RequestDetails {
  requestId?: string;
  headers?: IncomingHttpHeaders;
  /** Issues with paths below the arguments of the call. */
  argumentIssues?: readonly Issue[] | undefined;
  /** The idempotency key of the call, unless its arguments have one. */
  callKey?: string | undefined;
  /** Whether the answer can carry a question; default: it can. */
  canAsk?: boolean | undefined;
}

/** Passes the principal and the request id through the SDK as `authInfo`, without the key. */
export const toAuthInfo = (
  principal: Principal,
  {
    requestId = newRequestId(),
    headers: { traceparent, tracestate } = {},
    argumentIssues = [],
    callKey,
    canAsk = true,
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
    canAsk,
  } satisfies Identity,
});

/** @throws ProtocolError for a request that did not come through the listener */
export function identityOf({ http }: ServerContext): Identity {
  const identity = http?.authInfo?.extra as Identity | undefined;
  if (identity === undefined) throw new ProtocolError(ProtocolErrorCode.InternalError, "No principal");
  return identity;
}

/** The call of an operation that a request of a method causes. @throws ProtocolError as `identityOf` */
export function callOf(server: Server, ctx: ServerContext, method: string): Call {
  const identity = identityOf(ctx);
  return {
    actor: { principal: identity.principal, client: { surface: "mcp", name: clientNameOf(server, ctx) } },
    requestId: identity.requestId,
    signal: ctx.mcpReq.signal,
    incomingTrace: incomingTraceOf(ctx, identity),
    attributes: { "rpc.system": "jsonrpc", "rpc.method": method, "mcp.method.name": method },
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

function clientNameOf(server: Server, ctx: ServerContext): string {
  const client = server.getClientVersion();
  return client === undefined
    ? userAgentName(ctx.http?.req?.headers.get("user-agent"))
    : clientName(`${client.name}/${client.version}`);
}
