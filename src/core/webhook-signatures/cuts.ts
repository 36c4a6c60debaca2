/**
 * Where signed bytes are cut into parts. A signature is over one text: somebody with a signed delivery could move a part of the body
 * into the id, the time or the query beside it, and send another delivery with the same signature. So each signed text is accepted
 * with one cut only. A separator ends an id where it first occurs (with a time after it: where it first has a time after it), a time has
 * a fixed form (moments.ts), and without a separator the body must be a JSON object or array, which nothing else in the text begins or
 * ends like.
 */
import { isRecent, momentOfDigits, TIME_PATTERN } from "./moments.ts";
import { partsOf, type RequestPart } from "./signed-content.ts";

/** A part of what is signed, with its value. A `{url}` is two: a text that is ours, and the query that the request has. */
export interface SignedPart {
  kind: Exclude<RequestPart, "url"> | "query" | "literal";
  value: string | Buffer;
}

type Kind = SignedPart["kind"];

const BRACKETS = /[{}[\]]/;
/** That of JSON (RFC 8259, section 2). */
const WHITE_SPACE: ReadonlySet<number> = new Set(Buffer.from(" \t\r\n"));
/** A text before or after ten digits that could make them thirteen. */
const THREE_DIGITS = { after: /^\d{3}/, before: /\d{3}$/ };

const isContent = (kind: Kind): boolean => kind === "body" || kind === "form";
/** Whether a part can have any length. */
const isFree = (kind: Kind): boolean => kind === "id" || kind === "query";

/**
 * @param parts what a valid signature is over, with times that can be read
 * @param now in milliseconds since 1970
 * @returns why the text could be cut into other parts, as a sentence; undefined where it can't
 */
export function ambiguousCut(parts: readonly SignedPart[], now: number): string | undefined {
  const at = parts.findIndex(({ kind }) => isContent(kind));
  const content = parts[at];
  const isClosed = content?.kind === "body" && isJsonContainer(content.value);
  const open = { before: 0, after: 0 };
  for (const [index, { kind, value }] of parts.entries()) {
    if (kind === "timestamp") {
      const found = otherTime(parts, index, now);
      if (found !== undefined) return found;
    }
    if (!isFree(kind)) continue;
    const text = value.toString();
    const side = index < at ? "before" : "after";
    const beside = parts[side === "before" ? index + 1 : index - 1];
    if (beside?.kind === "literal") {
      if (!isEndedByTimeOf(parts, index, text) && !isEndedBy(text, beside.value.toString(), side))
        return `The ${kind} has the text in it that separates it from what is signed beside it.`;
    } else if (!isEmptyQuery(kind, text, beside) && !isSplitAnyway(kind, beside)) {
      open[side]++;
      if (open[side] > 1 || !isClosed || BRACKETS.test(text))
        return (
          `The ${kind} stands beside other parts of the signed text without a separator. Then the body must be a JSON object or ` +
          `array, and the ${kind} must have no brackets.`
        );
    }
  }
  return undefined;
}

/** Whether a separator after a text (or before it) does not occur in it, so that it ends where the separator first occurs. */
function isEndedBy(text: string, separator: string, side: "before" | "after"): boolean {
  return side === "before"
    ? (text + separator).indexOf(separator) === text.length
    : (separator + text).lastIndexOf(separator) === 0;
}

const escaped = (text: string): string => text.replaceAll(/\W/g, String.raw`\$&`);

/**
 * Whether an id ends where its separator first has a time and the next separator after it. Then it may have the separator in it.
 * @param cut.rest what follows the separator; at least the time, the next separator and what a longer time would have
 * @param cut.time the pattern of a time
 */
export const isEndedByTime = (
  id: string,
  { before, rest, after, time }: { before: string; rest: string; after: string; time: string },
): boolean =>
  new RegExp(escaped(before) + time + escaped(after)).exec(id + before + rest)?.index === id.length;

/** Maximum length of the text in which another time could end, in bytes: a time has at most 35. */
const MAX_AFTER_TIME = 100;

/** As `isEndedByTime`, of a part that is followed by separator, time and separator; false for any other. */
function isEndedByTimeOf(parts: readonly SignedPart[], index: number, text: string): boolean {
  const [before, time, after, next] = parts.slice(index + 1, index + 5);
  if (before?.kind !== "literal" || time?.kind !== "timestamp" || after?.kind !== "literal") return false;
  const separator = after.value.toString();
  // Digits could be the last ones of a longer time.
  if (/^\d/.test(separator)) return false;
  const rest = `${time.value.toString()}${separator}${next?.value.slice(0, MAX_AFTER_TIME).toString("latin1") ?? ""}`;
  return isEndedByTime(text, { before: before.value.toString(), rest, after: separator, time: TIME_PATTERN });
}

/** Whether no longer and no shorter text of JSON begins like this one: its first and last characters are brackets. */
function isJsonContainer(value: string | Buffer): boolean {
  const body = typeof value === "string" ? Buffer.from(value) : value;
  const last = body.findLastIndex((byte) => !WHITE_SPACE.has(byte));
  return /^[{[][}\]]$/.test(body.toString("latin1", 0, 1) + body.toString("latin1", last, last + 1));
}

/** A query begins with `?`: without one, what follows can't be a part of it. */
const isEmptyQuery = (kind: Kind, text: string, beside: SignedPart | undefined): boolean =>
  kind === "query" &&
  text === "" &&
  beside !== undefined &&
  isContent(beside.kind) &&
  !beside.value.slice(0, 1).toString().startsWith("?");

/** The fields of a form are signed without separators (Twilio), so a cut beside them adds nothing. */
const isSplitAnyway = (kind: Kind, beside: SignedPart | undefined): boolean =>
  kind === "query" && beside?.kind === "form";

/** Whether no other body ends like this one after digits: it is empty, or a JSON object or array, also after white space. */
function isWhole({ kind, value }: SignedPart): boolean {
  if (kind !== "body") return false;
  const body = typeof value === "string" ? Buffer.from(value) : value;
  const first = body.findIndex((byte) => !WHITE_SPACE.has(byte));
  return body.length === 0 || (first >= 0 && isJsonContainer(body.subarray(first)));
}

/** Why digits beside a time could belong to it, so that ten digits of seconds would be thirteen of milliseconds, or the reverse. */
function otherTime(parts: readonly SignedPart[], index: number, now: number): string | undefined {
  const time = parts[index]!.value.toString();
  if (momentOfDigits(time) === undefined) return undefined;
  const textOf = (part: SignedPart | undefined, start: number, end?: number): string | undefined =>
    part === undefined || part.kind === "literal" ? undefined : part.value.slice(start, end).toString();
  const [before, after] = [textOf(parts[index - 1], -3), textOf(parts[index + 1], 0, 3)];
  const isMilliseconds = time.length === 13;
  const next = parts[index + 1];
  const others = isMilliseconds
    ? [
        ...(before === undefined ? [] : [time.slice(3)]),
        ...(after === undefined || isWhole(next!) ? [] : [time.slice(0, 10)]),
      ]
    : [
        ...(before === undefined ? [] : [`${THREE_DIGITS.before.exec(before)?.[0] ?? ""}${time}`]),
        ...(after === undefined ? [] : [`${time}${THREE_DIGITS.after.exec(after)?.[0] ?? ""}`]),
      ].filter((other) => other.length === 13);
  if (!others.some((other) => isRecent(momentOfDigits(other) ?? Infinity, now))) return undefined;
  return isMilliseconds
    ? "The time in milliseconds stands directly before what is neither empty nor a JSON object or array, so its last digits could belong to that."
    : "The time in seconds stands beside digits without a separator, so it could be milliseconds.";
}

/**
 * @param signs such as `{id}{timestamp}{body}`
 * @returns the name of a part that no separator and no form of a body tells from what is beside it; undefined without one
 */
export function inseparablePart(signs: string): string | undefined {
  const kinds = partsOf(signs).flatMap(({ kind }): Kind[] =>
    kind === "url" ? ["literal", "query"] : [kind],
  );
  const at = kinds.findIndex(isContent);
  const hasForm = kinds[at] === "form";
  const open = { before: 0, after: 0 };
  for (const [index, kind] of kinds.entries()) {
    const side = index < at ? "before" : "after";
    const beside = kinds[side === "before" ? index + 1 : index - 1];
    const isAfterTime = kind === "id" && kinds[index - 1] === "timestamp";
    if (isAfterTime) return kind;
    if (!isFree(kind) || beside === "literal" || (kind === "query" && hasForm)) continue;
    open[side]++;
    if (open[side] > 1 || hasForm) return kind === "query" ? "url" : kind;
  }
  return undefined;
}
