/** Calls operations of a server over REST, each by its own route. */
import { randomUUID } from "node:crypto";
import { createClient, type MillraceClient, MillraceError } from "../../../packages/client/src/index.ts";
import { VERSION } from "../../app/build.ts";
import { AppError, type ErrorCode, ERRORS } from "../../core/errors.ts";
import { type AnyTool, parseRoute } from "../../core/tool.ts";
import { planInput } from "../../surfaces/rest/input.ts";
import type { Caller } from "../caller.ts";
import { CommandError } from "../io.ts";
import { checkFileOn } from "./check-file.ts";
import type { RemoteServer } from "./server.ts";

export interface RemoteCaller extends Caller {
  client: MillraceClient;
}

export function remoteCaller(server: RemoteServer): RemoteCaller {
  const client = createClient({ ...server, userAgent: `millrace/${VERSION} (command line)` });
  const call: Caller["call"] = async <T>(tool: AnyTool, input: Readonly<Record<string, unknown>>) => {
    const { method, path } = parseRoute(tool);
    try {
      const response = await client.requestUntyped(
        method.toLowerCase() as Lowercase<typeof method>,
        path.replace(/:(\w+)/g, "{$1}"),
        requestOf(tool, input),
      );
      if (tool.page === undefined) return response.data as T;
      const { data: items, total, isTotalCapped, next } = response;
      return { items, total, ...(isTotalCapped && { total_capped: true }), next_cursor: next } as T;
    } catch (error) {
      throw error instanceof MillraceError
        ? Object.assign(toLocalError(error, server.url), { cause: error })
        : error;
    }
  };
  return { client, call, checkFile: checkFileOn(call) };
}

/** Places the fields of an input in the request, as the operation's route expects them. */
function requestOf(tool: AnyTool, input: Readonly<Record<string, unknown>>) {
  const { parameters, headers, fields, inBody } = planInput(tool);
  const pick = (names: readonly string[]) =>
    Object.fromEntries(names.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])));
  const header = Object.fromEntries(
    headers.flatMap(([field, name]) => {
      const value = input[field] as string | number | undefined;
      if (value === undefined) return [];
      return [[name, name === "If-Match" ? `"${String(value)}"` : String(value)]];
    }),
  );
  return {
    path: pick(parameters),
    header,
    // A repeated request has its effect once.
    ...(headers.some(([, name]) => name === "Idempotency-Key" && header[name] === undefined) && {
      idempotencyKey: randomUUID(),
    }),
    ...(inBody ? { body: pick(fields) } : { query: pick(fields) }),
  };
}

/** The error that the same command would end with on the machine of the server. Its cause is the error of the client. */
function toLocalError(error: MillraceError, url: string): Error {
  const { code, message, issues, problem } = error;
  if (code === "unreachable")
    return new CommandError(
      `${url} (MILLRACE_URL) can't be reached: ${reasonOf(error.cause)}. Check the address, and that the server runs.`,
    );
  if (code === "redirected")
    return new CommandError(message.replace("the URL of the client", "MILLRACE_URL"));
  if (code === "unreadable_response")
    return new CommandError(`${url} (MILLRACE_URL) does not answer as Millrace does. ${message}`);
  if (code === "unauthorized")
    return new CommandError(`${url} refuses the key in MILLRACE_API_KEY. ${message}`);
  if (Object.hasOwn(ERRORS, code))
    return new AppError(code as ErrorCode, message, issues.length === 0 ? {} : { errors: [...issues] });
  // Of a newer release.
  return new CommandError(
    [problem.title, message, ...issues.map((issue) => `- ${issue.path} ${issue.message}`)].join("\n"),
  );
}

/** Why a connection failed, in words. `fetch` hides it in the causes of its error. */
function reasonOf(error: unknown): string {
  const { cause, message, code } = error as NodeJS.ErrnoException & { cause?: unknown };
  if (code !== undefined && REASONS[code] !== undefined) return REASONS[code];
  return cause instanceof Error ? reasonOf(cause) : message;
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "its name is not known",
  EAI_AGAIN: "its name can't be looked up now",
  ECONNRESET: "the connection was closed",
  ETIMEDOUT: "it does not answer",
  UND_ERR_CONNECT_TIMEOUT: "it does not answer",
  UND_ERR_SOCKET: "the connection was closed",
  EHOSTUNREACH: "there is no route to it",
  ENETUNREACH: "there is no network",
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "its certificate is not trusted (set NODE_EXTRA_CA_CERTS to the file of its authority)",
  SELF_SIGNED_CERT_IN_CHAIN:
    "its certificate is not trusted (set NODE_EXTRA_CA_CERTS to the file of its authority)",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "its certificate is not trusted (set NODE_EXTRA_CA_CERTS to the file of its authority)",
  CERT_HAS_EXPIRED: "its certificate has expired",
};
