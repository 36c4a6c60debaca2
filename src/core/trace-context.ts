/**
 * W3C Trace Context: reads and writes the headers that carry a trace. The code does not use OpenTelemetry's parser because
 * processes without tracing pass the context on too, and because the size of untrusted headers must be limited.
 * @see https://www.w3.org/TR/trace-context-2/
 */
import { createHash } from "node:crypto";
import type { StepRef } from "./model.ts";

export interface TraceContext {
  /** 32 hex digits. */
  traceId: string;
  /** The parent of the next span: 16 hex digits. */
  spanId: string;
  /** Bit 0: sampled. Bit 1: the trace id is random. Other bits are not specified yet, and are dropped. */
  flags: number;
  /** The `tracestate` of other tracing systems; empty without one. */
  state: string;
}

/** The names in HTTP headers and in `_meta` of MCP. */
export interface TraceHeaders {
  traceparent?: string;
  tracestate?: string;
}

const SAMPLED = 1;
const KNOWN_FLAGS = 3;
/** Length of a `traceparent` of version 00, in characters. */
const PARENT_LENGTH = 55;
/** Maximum length of an accepted `traceparent`, in characters. */
const MAX_PARENT_LENGTH = 256;
/** Maximum length of a `tracestate` that is passed on, in characters. */
const MAX_STATE_LENGTH = 512;
/** Maximum length of an accepted `tracestate`, in characters. */
const MAX_STATE_INPUT_LENGTH = 4_096;
/** Length above which a member is dropped before others, in characters. */
const LARGE_MEMBER = 128;
/** Maximum number of members of an accepted `tracestate`. */
const MAX_MEMBERS = 32;

const PARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
/** A key of up to 256 characters, and a printable value of up to 256 that does not end with a space. */
const MEMBER =
  /^([a-z0-9][a-z0-9_\-*/@]{0,255})=([\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e])$/;

/**
 * Parses the headers of a request. A malformed `traceparent` is ignored with its `tracestate`, a malformed `tracestate`
 * alone.
 * @param traceparent any value that a client sent
 */
export function parseTrace(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== "string" || traceparent.length > MAX_PARENT_LENGTH) return undefined;
  const [, version, traceId, spanId, flags] = PARENT.exec(traceparent) ?? [];
  // Later versions may append fields.
  if (flags === undefined || (version === "00" && traceparent.length !== PARENT_LENGTH)) return undefined;
  return {
    traceId: traceId!,
    spanId: spanId!,
    flags: Number.parseInt(flags, 16) & KNOWN_FLAGS,
    state: typeof tracestate === "string" ? parseState(tracestate) : "",
  };
}

function parseState(text: string): string {
  if (text.length > MAX_STATE_INPUT_LENGTH) return "";
  const members = text
    .split(",")
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ""))
    .filter((member) => member !== "");
  const keys = new Set(members.map((member) => MEMBER.exec(member)?.[1]));
  if (members.length > MAX_MEMBERS || keys.size < members.length || keys.has(undefined)) return "";
  // Large members are dropped first, then the last ones, which are the oldest (section 3.3.1.5).
  const fits = (): boolean => members.join(",").length <= MAX_STATE_LENGTH;
  while (!fits()) {
    const large = members.findLastIndex(({ length }) => length > LARGE_MEMBER);
    members.splice(large === -1 ? members.length - 1 : large, 1);
  }
  return members.join(",");
}

/** The headers with which the receiver continues the trace. */
export function traceHeaders({ traceId, spanId, flags, state }: TraceContext): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, "0")}`;
  return state === "" ? { traceparent } : { traceparent, tracestate: state };
}

/** Formats a context for the database: `traceparent`, a space and `tracestate`. */
export function serializeTrace(context: TraceContext): string {
  const { traceparent, tracestate } = traceHeaders(context);
  return tracestate === undefined ? traceparent! : `${traceparent} ${tracestate}`;
}

/** Parses the text of `serializeTrace`. */
export const deserializeTrace = (stored: string): TraceContext | undefined =>
  parseTrace(stored.slice(0, PARENT_LENGTH), stored.slice(PARENT_LENGTH + 1));

export const isSampled = ({ flags }: TraceContext): boolean => (flags & SAMPLED) !== 0;
export const toTraceFlags = (sampled: boolean): number => (sampled ? SAMPLED : 0);

// Span ids are derived from run and step ids, so that every process can name a parent span before it is reported.
const digest = (text: string, digits: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, digits);

/** The trace id of a run that was started without a trace. */
export const runTraceId = (runId: string): string => digest(`trace ${runId}`, 32);
export const runSpanId = (runId: string): string => digest(`run ${runId}`, 16);
export const attemptSpanId = ({ runId, stepId, item }: StepRef, attempt: number): string =>
  digest(`attempt ${runId} ${stepId} ${item ?? -1} ${attempt}`, 16);
