/**
 * Calls that a client can resume on any process, as the revision 2025-11-25 describes it. The event id that a call's stream
 * begins with holds the call itself. To resume it, the call is executed again with the idempotency key of the id: a write
 * that was done returns its recorded result, and a run that was started is waited for.
 */
import { randomUUID } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { type CallToolRequest, isJSONRPCRequest } from "@modelcontextprotocol/server";
import { z } from "zod";
import { AppError } from "../../core/errors.ts";
import { assertRequestDepth } from "../../core/json-nesting.ts";
import { readMessageText } from "./http-messages.ts";

/** The first revision whose clients understand an event without data. */
const FIRST_RESUMABLE_REVISION = "2025-11-25";
/** Maximum length of an event id, in characters, because it comes back in a header, and proxies limit headers to 8 KiB. */
const MAX_EVENT_ID = 6_000;
/** Maximum size of a call in an event id, in bytes of JSON. */
const MAX_CALL_BYTES = 64 * 1024;
/** Delay before clients reconnect, in milliseconds. The SDKs try twice: enough for the restart of a single process. */
const RETRY_MS = 2_000;
/** Id of the last event of a call. Clients that reconnect after it, as some do after an error, get nothing more. */
const LAST_EVENT_ID = "end";
const PREFIX = "call.";

const Call = z.object({
  /** The idempotency key. */
  key: z.string().min(1).max(100),
  id: z.union([z.string(), z.number()]),
  /** Left out of a call that is too large for an event id, or was refused because it can't be read as it is written. */
  params: z.looseObject({ name: z.string() }).optional(),
});

/** A call as the event id of its stream describes it. */
export type ResumableCall = z.infer<typeof Call>;

/** The call of a message; undefined when the client can't resume it. @param revision the client's protocol revision */
export function toResumableCall(
  { message, argumentIssues }: { message: unknown; argumentIssues: readonly unknown[] },
  revision: unknown,
): ResumableCall | undefined {
  if (typeof revision !== "string" || revision < FIRST_RESUMABLE_REVISION) return undefined;
  if (!isJSONRPCRequest(message) || message.method !== "tools/call") return undefined;
  const parsed = Call.safeParse({ key: `mcp-call:${randomUUID()}`, id: message.id, params: message.params });
  if (!parsed.success) return undefined;
  // Executed again from what was parsed, the call would pass with other values than were sent.
  return argumentIssues.length === 0 ? parsed.data : { ...parsed.data, params: undefined };
}

/** The event that a call's stream begins with; empty when not even the call's id fits into one. */
export function openingEvent(call: ResumableCall): string {
  const { params: _, ...idOnly } = call;
  const eventId = [call, idOnly].map(toEventId).find((id) => id !== undefined);
  return eventId === undefined ? "" : `id: ${eventId}\nretry: ${RETRY_MS}\ndata: \n\n`;
}

/** The event that a call's stream ends with, after its answer. */
export const CLOSING_EVENT = `id: ${LAST_EVENT_ID}\ndata: \n\n`;

function toEventId(call: ResumableCall): string | undefined {
  const json = JSON.stringify(call);
  if (json.length > MAX_CALL_BYTES) return undefined;
  const eventId = PREFIX + deflateRawSync(json).toString("base64url");
  return eventId.length > MAX_EVENT_ID ? undefined : eventId;
}

/**
 * The call that a client wants to resume.
 * @throws AppError method_not_allowed after the end of a call, invalid_request for an id that no event had
 */
export function findResumedCall(lastEventId: string): ResumableCall {
  if (lastEventId === LAST_EVENT_ID) {
    throw new AppError("method_not_allowed", "The call has ended. There are no further events.", {
      headers: { Allow: "POST, DELETE" },
    });
  }
  try {
    if (!lastEventId.startsWith(PREFIX) || lastEventId.length > MAX_EVENT_ID) throw new Error("Not our id");
    const bytes = Buffer.from(lastEventId.slice(PREFIX.length), "base64url");
    const text = inflateRawSync(bytes, { maxOutputLength: MAX_CALL_BYTES }).toString();
    // The id comes from the client, so it is checked as a message is.
    assertRequestDepth(text);
    const { message, argumentIssues } = readMessageText(text);
    if (argumentIssues.length > 0) throw new Error("Not our id");
    return Call.parse(message);
  } catch (error) {
    throw new AppError(
      "invalid_request",
      "Last-Event-ID is not the id of an event of this server. Open the stream without it.",
      { cause: error },
    );
  }
}

/** The request that executes a call again; undefined when the event id had no room for it. */
export const toCallRequest = ({ id, params }: ResumableCall) =>
  params === undefined
    ? undefined
    : {
        jsonrpc: "2.0" as const,
        id,
        method: "tools/call" as const,
        params: params as CallToolRequest["params"],
      };

/** The answer to a call that can't be executed again. */
export const interruptedError = ({ id }: ResumableCall) => ({
  jsonrpc: "2.0" as const,
  id,
  error: {
    code: -32_000,
    message:
      "The call was interrupted and can't be resumed, because it is too large or was refused. It may have been executed: " +
      "see list_workflows or list_runs, then repeat it if necessary. With an idempotency_key a call can always be repeated.",
  },
});
