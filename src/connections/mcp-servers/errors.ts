/** Converts errors of MCP servers to step errors, with messages for workflow authors. */
import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { proxyErrorOf } from "../../core/proxy-tunnel.ts";
import { formatPath } from "../../core/issues.ts";
import { StepError, type StepErrorOptions } from "../../core/step-errors.ts";
import { isUnansweredStatus, mayHaveBeenSent } from "../was-sent.ts";
import type { Masker } from "../masking.ts";
import { NOT_A_MESSAGE } from "./repair-message.ts";

/** Maximum length of a server's message, in characters. */
const MAX_MESSAGE_LENGTH = 2_000;

/** Maximum length of what a server adds to its message, in characters. */
const MAX_DATA_LENGTH = 500;

const shortened = (text: string): string =>
  text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text;

/** The server that failed, and a masker for the secrets that it was given. */
export interface FailureContext {
  server: string;
  /** Whether its configuration names a variable with a key. */
  hasKey: boolean;
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
  options: Pick<StepErrorOptions, "transient" | "fix"> = {},
): StepError {
  const reason = shortened(mask.text(message)) || "no reason given";
  return new StepError("tool_failed", `${server}: ${tool} failed: ${reason}`, options);
}

/** A response with a status outside of 2xx. */
export interface Refusal {
  status: number;
  /** The message of the server; "" for none. */
  said: string;
  /** How long the server asks to wait, in milliseconds. */
  waitMs: number | undefined;
}

/** Facts about a failure besides the error of the SDK. */
interface FailureFacts {
  /** The end of the server's error output, with secrets masked; "" for none. */
  stderrTail: string;
  /** The response of the server that the error is about. */
  refusal?: Refusal | undefined;
}

const CHECK_SERVER = "Ask the people who run the server to correct it.";

/**
 * Converts an error of the SDK.
 * @param tool the tool that was called; undefined while connecting and listing tools
 */
export function mcpStepError(
  context: FailureContext,
  tool: string | undefined,
  thrown: unknown,
  { stderrTail, refusal }: FailureFacts,
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
    return accessRefused(context, status ?? 401, refusal);
  if (thrown instanceof ProtocolError && thrown.code === NOT_A_MESSAGE)
    return serverUnavailable(server, shortened(mask.text(thrown.message)), thrown);
  if (thrown instanceof ProtocolError)
    return tool === undefined
      ? serverUnavailable(server, `refused the connection: ${shortened(mask.text(thrown.message))}`, thrown)
      : toolFailed(context, tool, messageWithData(thrown), { transient: false });
  if (thrown instanceof SdkError) {
    switch (thrown.code) {
      case SdkErrorCode.RequestTimeout:
        return serverUnavailable(server, `did not answer in time${output}`, thrown);
      case SdkErrorCode.UnsupportedResultType:
        return toolFailed(
          context,
          tool ?? "the request",
          "the server requested input from the client, which a step cannot give",
          { transient: false },
        );
      case SdkErrorCode.InvalidResult:
        return toolFailed(context, tool ?? "listing its tools", invalidResult(thrown), {
          transient: false,
          fix: CHECK_SERVER,
        });
      default:
    }
  }
  if (status !== undefined)
    return httpRefusal(
      context,
      refusal?.status === status ? refusal : { status, said: "", waitMs: undefined },
    );
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
  if (thrown instanceof Error && !(thrown instanceof SdkError))
    return serverUnavailable(
      server,
      `sent something that can't be used: ${shortened(mask.text(thrown.message))}${output}`,
      thrown,
    );
  return serverUnavailable(server, `ended or closed the connection${output}`, thrown);
}

function accessRefused(
  { server, hasKey, mask }: FailureContext,
  status: number,
  refusal: Refusal | undefined,
): StepError {
  const said = refusal?.status === status ? shortened(mask.text(refusal.said)) : "";
  return new StepError(
    "environment",
    `The MCP server ${server} refused ${hasKey ? "the key" : "a request without a key"} (HTTP ${status})${said && `: ${said}`}.`,
    {
      fix: hasKey
        ? `Check the variable named by key_var of mcp_servers: ${server}.`
        : `Set key_var of mcp_servers: ${server} to the name of a variable with a key for it.`,
    },
  );
}

function httpRefusal({ server, mask }: FailureContext, { status, said, waitMs }: Refusal): StepError {
  const message = shortened(mask.text(said));
  const reason = message === "" ? "" : `: ${message}`;
  const isRedirect = status >= 300 && status < 400;
  return new StepError(
    "tool_unavailable",
    `The MCP server ${server} answered with HTTP ${status}${reason}.`,
    {
      ...(isRedirect && {
        fix: `Set url of mcp_servers: ${server} to the address that it redirects to: the key is not sent to another one.`,
        transient: false,
      }),
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
      details: { status },
    },
  );
}

/** The message of an error with the data that the server adds, such as the arguments that it refuses. */
function messageWithData({ message, data }: ProtocolError): string {
  if (data === undefined || data === null || data === "") return message;
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${message} (${text.slice(0, MAX_DATA_LENGTH)})`;
}

/** The first issue that the SDK found in a result, out of the list in its message. */
function invalidResult({ message }: SdkError): string {
  const list = message.slice(Math.max(message.indexOf(": "), 0) + 2);
  let first: unknown;
  try {
    [first] = JSON.parse(list) as unknown[];
  } catch {
    return shortened(message);
  }
  const { path = [], expected, message: problem } = first as SdkIssue;
  const place = formatPath(path);
  const kind = expected === undefined ? undefined : KINDS[expected];
  const wrong = kind === undefined ? (problem ?? "is not valid") : `it must be ${kind}${received(problem)}`;
  return `the server sent a result that does not have the form of the protocol${place === "" ? "" : ` at ${place}`}: ${wrong}`;
}

/** An issue as the SDK reports it. */
interface SdkIssue {
  path?: PropertyKey[];
  message?: string;
  /** The type that the value should have. */
  expected?: string;
}

/** Types by their names in the SDK. */
const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** The type that the value has, which only the message of an issue says. */
function received(message = ""): string {
  const found = /received (\w+)$/.exec(message)?.[1];
  if (found === "undefined") return ", and is missing";
  return found === undefined ? "" : `, got ${KINDS[found] ?? found}`;
}

/** Finds Node's error code of a failed connection or start in the chain of causes. */
const systemCode = (thrown: unknown): string | undefined => systemError(thrown)?.code;

function systemError(thrown: unknown): NodeJS.ErrnoException | undefined {
  for (let here = thrown, depth = 0; here instanceof Error && depth < 5; here = here.cause, depth += 1) {
    const { code }: NodeJS.ErrnoException = here;
    if (typeof code === "string" && /^E[A-Z]+$|^UND_ERR/.test(code)) return here;
  }
  return undefined;
}

/** Whether a tool can have been called, although its call has failed: the server has not refused it. */
export function mayHaveBeenCalled(thrown: unknown): boolean {
  const status = thrown instanceof SdkHttpError ? thrown.status : undefined;
  if (status !== undefined) return isUnansweredStatus(status);
  const error = systemError(thrown);
  return mayHaveBeenSent({ code: error?.code, syscall: error?.syscall });
}

/** The failure of a call that nobody answered, if the server is what failed. */
export const asUnanswered = <T>(failure: T): T | StepError =>
  failure instanceof StepError && failure.code === "tool_unavailable"
    ? new StepError(failure.code, failure.message, { ...failure.options, unanswered: true })
    : failure;
