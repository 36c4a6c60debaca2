/** Converts errors of MCP servers to step errors, with messages for workflow authors. */
import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { proxyErrorOf } from "../../core/proxy-tunnel.ts";
import { StepError } from "../../core/step-errors.ts";
import type { Masker } from "../masking.ts";

/** Maximum length of a server's message, in characters. */
const MAX_MESSAGE_LENGTH = 2_000;

const shortened = (text: string): string =>
  text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text;

/** The server that failed, and a masker for the secrets that it was given. */
export interface FailureContext {
  server: string;
  mask: Masker;
}

/** @param what what the server did instead of answering */
export const serverUnavailable = (server: string, what: string, cause?: unknown): StepError =>
  new StepError("tool_unavailable", `The MCP server ${server} ${what}.`, { cause });

export const outputTooLarge = (server: string, maxBytes: number): StepError =>
  new StepError(
    "output_too_large",
    `The response of the MCP server ${server} is larger than ${maxBytes / 1024 ** 2} MiB.`,
    {
      fix: "Request less data from the tool: a filter, a page, fewer fields.",
    },
  );

/** The error of a tool that reported a failure. */
export function toolFailed(
  { server, mask }: FailureContext,
  tool: string,
  message: string,
  transient?: boolean,
): StepError {
  const reason = shortened(mask.text(message)) || "no reason given";
  return new StepError("tool_failed", `${server}: ${tool} failed: ${reason}`, {
    ...(transient !== undefined && { transient }),
  });
}

/**
 * Converts an error of the SDK.
 * @param tool the tool that was called; undefined while connecting and listing tools
 * @param stderrTail the end of the server's error output, with secrets masked; "" for none
 */
export function mcpStepError(
  context: FailureContext,
  tool: string | undefined,
  thrown: unknown,
  stderrTail: string,
): StepError {
  if (thrown instanceof StepError) return thrown;
  const { server, mask } = context;
  const proxy = proxyErrorOf(thrown);
  if (proxy !== undefined)
    return new StepError("tool_unavailable", `The MCP server ${server} can't be reached: ${proxy.message}.`, {
      fix: proxy.fix,
      transient: proxy.transient,
      cause: thrown,
    });
  const output = stderrTail === "" ? "" : `; its error output: ${stderrTail}`;
  const status = thrown instanceof SdkHttpError ? thrown.status : undefined;
  if (thrown instanceof UnauthorizedError || status === 401 || status === 403)
    return new StepError("environment", `The MCP server ${server} refused the key (HTTP ${status ?? 401}).`, {
      fix: `Check the variable named by key_var of mcp_servers: ${server}.`,
    });
  if (thrown instanceof ProtocolError)
    return tool === undefined
      ? serverUnavailable(server, `refused the connection: ${shortened(mask.text(thrown.message))}`, thrown)
      : toolFailed(context, tool, thrown.message, false);
  if (thrown instanceof SdkError) {
    switch (thrown.code) {
      case SdkErrorCode.RequestTimeout:
        return serverUnavailable(server, `did not answer in time${output}`, thrown);
      case SdkErrorCode.UnsupportedResultType:
        return toolFailed(
          context,
          tool ?? "the request",
          "the server requested input from the client, which a step cannot give",
          false,
        );
      case SdkErrorCode.InvalidResult:
      case SdkErrorCode.ListPaginationExceeded:
        return toolFailed(context, tool ?? "listing its tools", thrown.message, false);
      default:
    }
  }
  if (status !== undefined) return serverUnavailable(server, `answered with HTTP ${status}`, thrown);
  const code = systemCode(thrown);
  if (code === "ENOENT" || code === "EACCES")
    return new StepError(
      "environment",
      `The MCP server ${server} cannot be started, because its command was not found.`,
      {
        fix: `Check command of mcp_servers: ${server}, and that it is installed on the machine of the executors.`,
        cause: thrown,
      },
    );
  if (code !== undefined) return serverUnavailable(server, `cannot be reached (${code})`, thrown);
  return serverUnavailable(server, `ended or closed the connection${output}`, thrown);
}

/** Finds Node's error code of a failed connection or start in the chain of causes. */
function systemCode(thrown: unknown): string | undefined {
  for (let here = thrown, depth = 0; here instanceof Error && depth < 5; here = here.cause, depth += 1) {
    const { code } = here as NodeJS.ErrnoException;
    if (typeof code === "string" && /^E[A-Z]+$|^UND_ERR/.test(code)) return code;
  }
  return undefined;
}
