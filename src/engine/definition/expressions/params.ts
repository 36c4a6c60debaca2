/** Parameters and result types that many functions share. */
import { ANY, BOOLEAN, NUMBER, STRING } from "../../../core/shapes.ts";
import { isParenthesized } from "./cel-parser.ts";
import { formatNode } from "./failures.ts";
import { nearMatch } from "../../../core/near-match.ts";
import { namedZone, UNKNOWN_ZONE } from "./zones.ts";
import type { Param } from "./functions.ts";
import type { Expr } from "./tree.ts";
import { notNull, type Type } from "./typing.ts";
import type { Kind } from "./values.ts";

export const anything: Param = {};
export const text: Param = { kinds: ["string"] };
/** A number that counts or measures something, so that no long number fits. */
export const number: Param = { kinds: ["number"] };
export const exactNumber: Param = { kinds: ["number"], takesLongNumbers: true };
export const list: Param = { kinds: ["list"] };
export const map: Param = { kinds: ["map"] };
export const numbers: Param = { kinds: ["list"], items: ["number"], takesLongNumbers: true };

/** Numbers, or durations. */
export const summands: Param = { kinds: ["list"], items: ["number", "duration"], takesLongNumbers: true };

/** Maximum length of a list that a fix repeats, in characters. */
const MAX_REPEATED = 100;
/** Expressions that a method can't follow without parentheses. */
const OPERATIONS: ReadonlySet<Expr["kind"]> = new Set(["binary", "choice", "default"]);

/** How to write a list for a function of numbers that got items of another kind. */
export function fixOfItems({ at, kind }: Expr, name: string, found: Kind): string {
  const source = formatNode(at);
  const operand = OPERATIONS.has(kind) && !isParenthesized(at) ? `(${source})` : source;
  const written = source.length > MAX_REPEATED ? "list" : operand;
  if (found === "list") return `Write ${written}.flatten().${name}().`;
  return `Write ${written}.map(x, ${found === "map" ? "x.…" : "double(x)"}).${name}().`;
}

export const time: Param = { kinds: ["string", "timestamp"] };
export const zone: Param = {
  kinds: ["string"],
  literalIssue: (value) => {
    try {
      namedZone(value as string);
      return undefined;
    } catch {
      const near = nearMatch(value as string, Intl.supportedValuesOf("timeZone"));
      return near === undefined
        ? { code: "not_allowed", ...UNKNOWN_ZONE }
        : { code: "not_allowed", message: UNKNOWN_ZONE.message, did_you_mean: near, fix: `Write ${near}.` };
    }
  },
};
/** A text of which only some values are allowed. */
export const oneOf = (allowed: readonly string[], message: string): Param => ({
  kinds: ["string"],
  literalIssue: (value) => {
    if (allowed.includes(value as string)) return undefined;
    const near = nearMatch(value as string, allowed);
    return {
      code: "not_allowed",
      message,
      allowed: [...allowed],
      ...(near !== undefined && { did_you_mean: near }),
      fix: `Write ${near ?? `one of ${allowed.join(", ")}`}.`,
    };
  },
});

export const returnsText = (): Type => STRING;
export const returnsNumber = (): Type => NUMBER;
export const returnsBoolean = (): Type => BOOLEAN;
export const returnsAny = (): Type => ANY;
export const returnsTextList = (): Type => ({ kind: "list", of: STRING });
/** The type of the first argument, which is not null when the function runs. */
export const returnsFirstArgumentType = ([first]: readonly Type[]): Type => notNull(first!);
