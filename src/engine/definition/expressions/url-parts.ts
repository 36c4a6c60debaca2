/** Says which values are percent-encoded inside the text of a URL, and which of them must stay a part of it. */
import { HALF_PAIR } from "../../../core/well-formed.ts";
import { charge, chargeText, type Evaluation } from "./evaluation-context.ts";
import { expressionError, formatNode } from "./failures.ts";
import type { ParsedExpression } from "./parse.ts";

/**
 * Whether a value is encoded. At the start of the text it can only be the origin, and with raw() and url_encode() the author
 * has decided.
 * @param index its position among the parts of the text
 */
export const isPercentEncoded = (part: ParsedExpression, index: number): boolean =>
  mustStay(part, index) && !isCallOf(part, "url_encode");

/** Whether the URL parser must leave a value where it is. With raw() the author has decided. */
export const mustStay = (part: ParsedExpression, index: number): boolean =>
  index > 0 && !isCallOf(part, "raw");

const isCallOf = ({ expr }: ParsedExpression, name: string): boolean =>
  expr.kind === "call" && expr.name === name;

/** A value in the text of a URL. */
export interface UrlValue {
  part: ParsedExpression;
  /** Its place in the text. */
  start: number;
  end: number;
}

/** @throws StepError input_invalid if half of a surrogate pair would become U+FFFD */
export function assertUrlText({ expr }: ParsedExpression, text: string): void {
  if (text.isWellFormed()) return;
  throw expressionError(
    "input_invalid",
    expr.at,
    `The value of ${formatNode(expr.at)} contains ${HALF_PAIR}`,
    { fix: "Remove it." },
  );
}

/** The scheme and the slashes after it. The URL parser takes any number of them, and ignores tabs and line breaks. */
const START = /^[\0-\x20]*[a-z][a-z0-9+.\t\n\r-]*:[/\\\t\n\r]*/i;
/** Segments that the URL parser removes (https://url.spec.whatwg.org/#single-dot-path-segment), and empty ones. */
const REMOVED = /^(?:\.|%2e){0,2}$/i;

/**
 * Checks that no value is a segment of dots, which the URL parser removes, nor an empty segment, host or port: the request would have
 * another address than the one that is written.
 * @param values those that must stay
 * @throws StepError input_invalid
 */
export function assertUrlParts(evaluation: Evaluation, text: string, values: readonly UrlValue[]): void {
  if (values.length === 0) return;
  chargeText(evaluation, text.length, 2);
  const start = START.exec(text)?.[0];
  if (start === undefined) return;
  const scheme = start.indexOf(":");
  // Without the value in between there are only more slashes: the host would be what follows.
  const inSlashes = values.find((value) => value.start > scheme && value.start < start.length);
  if (inSlashes !== undefined) throwRemoved(inSlashes, "");
  let at = start.length;
  const [address] = text.slice(at).split(/[?#]/, 1);
  for (const [index, segment] of address!.split(/[/\\]/).entries())
    for (const piece of index === 0 ? segment.split(":") : [segment]) {
      const end = at + piece.length;
      // It also leaves out blanks at the end.
      const left = piece.replaceAll(/[\0-\x20]/g, "");
      if (REMOVED.test(left)) {
        charge(evaluation, values.length);
        const from = at;
        const value = values.find((one) => one.start <= end && one.end >= from);
        if (value !== undefined) throwRemoved(value, left);
      }
      at = end + 1;
    }
}

function throwRemoved({ part: { expr } }: UrlValue, left: string): never {
  const source = formatNode(expr.at);
  const made =
    left === ""
      ? "leaves a part of the URL empty"
      : `makes the part "${left}" of the URL, which is not sent but changes the path`;
  throw expressionError("input_invalid", expr.at, `The value of ${source} ${made}`, {
    fix: `Pass a value that is not empty and not only dots, or write raw(${source}) if the URL may change with it.`,
  });
}
