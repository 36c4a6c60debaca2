/** Executes operations for requests of MCP that are not calls of tools: reads of resources, prompts and completions. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type Access, mayUseTool, scopesOf } from "../../core/access.ts";
import { type AppError, toAppError, toProblem } from "../../core/errors.ts";
import type { Principal } from "../../core/ports.ts";
import type { AnyTool } from "../../core/tool.ts";
import { authorise, invoke, type Services } from "../invoke.ts";
import { callOf, identityOf } from "./request-identity.ts";

/** The operations, as one request may use them. */
export interface Operations {
  access: Access;
  /** Whether the caller may use the operation. */
  canUse(name: string): boolean;
  /** @throws AppError missing_scope, not_permitted */
  authorise(name: string): void;
  /** Executes an operation. @throws AppError those of `invoke` */
  execute(name: string, input: Record<string, unknown>): Promise<unknown>;
}

export type OperationsOf = (server: Server, ctx: ServerContext, method: string) => Operations;

/**
 * @param tools the operations that can be executed, by name
 * @param track counts what is in flight
 */
export function operationsFor(
  services: Services,
  tools: ReadonlyMap<string, AnyTool>,
  track: <T>(work: () => Promise<T>) => Promise<T>,
): OperationsOf {
  return (server, ctx, method) => {
    const { access }: Principal = identityOf(ctx).principal;
    const call = callOf(server, ctx, method);
    return {
      access,
      canUse(name) {
        const tool = tools.get(name);
        return tool !== undefined && scopesOf(access).has(tool.scope) && mayUseTool(access, name);
      },
      authorise: (name) => authorise(tools.get(name)!, call),
      // Each operation has a call of its own, because it records its trace and its ids there.
      execute: (name, input) => track(() => invoke(services, tools.get(name)!, input, { ...call })),
    };
  };
}

/** Answers a request; an AppError becomes a protocol error with the problem details of REST. */
export async function withProtocolErrors<T>(
  ctx: ServerContext,
  answer: () => Promise<T>,
  convert: (error: AppError) => ProtocolError | undefined = () => undefined,
): Promise<T> {
  try {
    return await answer();
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown;
    const error = toAppError(thrown);
    const code = error.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    throw (
      convert(error) ?? new ProtocolError(code, error.message, toProblem(error, identityOf(ctx).requestId))
    );
  }
}
