/**
 * W3C Trace Context: which trace something belongs to, as it comes in and goes out. Read here and not by a library
 * because it is needed where no traces are made too, and what strangers send must be bounded.
 * @see https://www.w3.org/TR/trace-context-2/
 */
import { createHash } from "node:crypto";
import type { StepRef } from "./model.ts";

export interface TraceContext {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits: the span that the next one is a child of. */
  spanId: string;
  /** Bit 0: sampled. Bit 1: the trace id is random. What other bits say is not known yet, and they are dropped. */
  flags: number;
  /** `tracestate`: what tracing systems on the way have noted; empty for nothing. */
  state: string;
}

/** As they are called in HTTP headers and in `_meta` of MCP. */
export interface TraceHeaders {
  traceparent?: string;
  tracestate?: string;
}

const SAMPLED = 1;
const KNOWN_FLAGS = 3;
/** How long a `traceparent` of version 00 is. */
const LENGTH = 55;
const LONGEST_PARENT = 256;
/** What is handed on of a `tracestate`, in characters, and the most that is looked at. */
const STATE_LENGTH = 512;
const LONGEST_STATE = 4_096;
const LARGE_MEMBER = 128;
const MOST_MEMBERS = 32;

const PARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
/** A key of up to 256 characters, and a printable value of up to 256 without a space at its end. */
const MEMBER =
  /^([a-z0-9][a-z0-9_\-*/@]{0,255})=([\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e])$/;

/**
 * Reads what came in. A malformed `traceparent` is as good as none; a malformed `tracestate` is left out.
 * @param traceparent as it came: text, or anything
 */
export function parseTrace(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== "string" || traceparent.length > LONGEST_PARENT) return undefined;
  const [, version, traceId, spanId, flags] = PARENT.exec(traceparent) ?? [];
  // A later version may say more at the end.
  if (flags === undefined || (version === "00" && traceparent.length !== LENGTH)) return undefined;
  return {
    traceId: traceId!,
    spanId: spanId!,
    flags: Number.parseInt(flags, 16) & KNOWN_FLAGS,
    state: typeof tracestate === "string" ? parsedState(tracestate) : "",
  };
}

function parsedState(text: string): string {
  if (text.length > LONGEST_STATE) return "";
  const members = text
    .split(",")
    .map((it) => it.replace(/^[ \t]+|[ \t]+$/g, ""))
    .filter((it) => it !== "");
  const keys = new Set(members.map((it) => MEMBER.exec(it)?.[1]));
  if (members.length > MOST_MEMBERS || keys.size < members.length || keys.has(undefined)) return "";
  // Large ones are left out first, then those at the end, which are the oldest (section 3.3.1.5).
  const fits = (): boolean => members.join(",").length <= STATE_LENGTH;
  while (!fits()) {
    const large = members.findLastIndex((it) => it.length > LARGE_MEMBER);
    members.splice(large === -1 ? members.length - 1 : large, 1);
  }
  return members.join(",");
}

/** What is sent so that the receiver goes on with the trace. */
export function traceHeaders({ traceId, spanId, flags, state }: TraceContext): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, "0")}`;
  return state === "" ? { traceparent } : { traceparent, tracestate: state };
}

/** As it is kept with a run: `traceparent`, and `tracestate` behind a space. */
export function serializeTrace(context: TraceContext): string {
  const { traceparent, tracestate } = traceHeaders(context);
  return tracestate === undefined ? traceparent! : `${traceparent} ${tracestate}`;
}

/** What `storedTrace` kept. */
export const deserializeTrace = (stored: string): TraceContext | undefined =>
  parseTrace(stored.slice(0, LENGTH), stored.slice(LENGTH + 1));

export const isSampled = ({ flags }: TraceContext): boolean => (flags & SAMPLED) !== 0;
export const toTraceFlags = (sampled: boolean): number => (sampled ? SAMPLED : 0);

// Ids that follow from what they are of: every process can name a span as a parent, whoever reports it, and when.
const digest = (text: string, digits: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, digits);

/** The trace of a run that began without one. */
export const runTraceId = (runId: string): string => digest(`trace ${runId}`, 32);
export const runSpanId = (runId: string): string => digest(`run ${runId}`, 16);
export const attemptSpanId = ({ runId, stepId, item }: StepRef, attempt: number): string =>
  digest(`attempt ${runId} ${stepId} ${item ?? -1} ${attempt}`, 16);
