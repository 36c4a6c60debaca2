/** What can go wrong with an MCP server, in the words of who wrote the workflow. */
import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { StepError } from "../../core/step-errors.ts";
import type { Masker } from "../masking.ts";

/** As much of what a server says is repeated. */
const LONGEST_MESSAGE = 2_000;

const shortened = (text: string): string =>
  text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;

/** Who failed, and what keeps the secrets that it was handed out of its words. */
export interface FailureContext {
  server: string;
  mask: Masker;
}

/** @param what it did instead of answering */
export const serverUnavailable = (server: string, what: string, cause?: unknown): StepError =>
  new StepError("tool_unavailable", `The MCP server ${server} ${what}.`, { cause });

export const outputTooLarge = (server: string, maxBytes: number): StepError =>
  new StepError(
    "output_too_large",
    `The MCP server ${server} answered with more than ${maxBytes / 1024 ** 2} MiB.`,
    {
      fix: "Ask the tool for less: a filter, a page, fewer fields.",
    },
  );

/** What a tool that failed said itself. */
export function toolFailed(
  { server, mask }: FailureContext,
  tool: string,
  said: string,
  transient?: boolean,
): StepError {
  const why = shortened(mask.text(said)) || "it did not say why";
  return new StepError("tool_failed", `${server}: ${tool} failed: ${why}`, {
    ...(transient !== undefined && { transient }),
  });
}

/**
 * Any failure of the SDK as a StepError.
 * @param tool what was called; undefined while connecting and listing
 * @param aside what the server wrote to its error output last, secrets masked; "" for nothing
 */
export function mcpStepError(
  failing: FailureContext,
  tool: string | undefined,
  thrown: unknown,
  aside: string,
): StepError {
  if (thrown instanceof StepError) return thrown;
  const { server, mask } = failing;
  const said = aside === "" ? "" : `; it wrote: ${aside}`;
  const status = thrown instanceof SdkHttpError ? thrown.status : undefined;
  if (thrown instanceof UnauthorizedError || status === 401 || status === 403)
    return new StepError("environment", `The MCP server ${server} refused our key (HTTP ${status ?? 401}).`, {
      fix: `Check the variable that key_var of mcp_servers: ${server} names.`,
    });
  if (thrown instanceof ProtocolError)
    return tool === undefined
      ? serverUnavailable(server, `refused to work with us: ${shortened(mask.text(thrown.message))}`, thrown)
      : toolFailed(failing, tool, thrown.message, false);
  if (thrown instanceof SdkError) {
    switch (thrown.code) {
      case SdkErrorCode.RequestTimeout:
        return serverUnavailable(server, `did not answer in time${said}`, thrown);
      case SdkErrorCode.UnsupportedResultType:
        return toolFailed(
          failing,
          tool ?? "it",
          "it asked for something back, which a step can't answer",
          false,
        );
      case SdkErrorCode.InvalidResult:
      case SdkErrorCode.ListPaginationExceeded:
        return toolFailed(failing, tool ?? "listing its tools", thrown.message, false);
      default:
    }
  }
  if (status !== undefined) return serverUnavailable(server, `answered with HTTP ${status}`, thrown);
  const code = systemCode(thrown);
  if (code === "ENOENT" || code === "EACCES")
    return new StepError(
      "environment",
      `The MCP server ${server} can't be started: its command is not there.`,
      {
        fix: `Check command of mcp_servers: ${server}, and that it is installed where Millrace runs.`,
        cause: thrown,
      },
    );
  if (code !== undefined) return serverUnavailable(server, `can't be reached (${code})`, thrown);
  return serverUnavailable(server, `ended or broke off${said}`, thrown);
}

/** Node's code of a failed connection or start, wherever in the chain of causes it stands. */
function systemCode(thrown: unknown): string | undefined {
  for (let here = thrown, depth = 0; here instanceof Error && depth < 5; here = here.cause, depth += 1) {
    const { code } = here as NodeJS.ErrnoException;
    if (typeof code === "string" && /^E[A-Z]+$|^UND_ERR/.test(code)) return code;
  }
  return undefined;
}
