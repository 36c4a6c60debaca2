/** Translates calls of functions that other languages have. */
import { nearMatch } from "../../../core/near-match.ts";
import type { SyntaxNode } from "./cel-parser.ts";
import type { IssueDetails } from "./failures.ts";
import { FUNCTION_SYNONYMS } from "./functions.ts";

/** Objects whose functions are plain functions here: `JSON.stringify(x)`, `Math.round(x)`. */
const NAMESPACES: ReadonlySet<string> = new Set([
  "JSON",
  "Math",
  "Object",
  "Array",
  "Number",
  "String",
  "Date",
  "_",
]);

const NOW = "timestamp(run.started_at)";

/** Calls that become another expression. Each takes the sources of the arguments; undefined for a wrong number of them. */
const TRANSLATED: Readonly<Record<string, (args: readonly string[]) => string | undefined>> = {
  now: () => NOW,
  today: () => NOW,
  current_timestamp: () => NOW,
  utcnow: () => NOW,
  coalesce: (args) => joined(args, " ?? "),
  default: (args) => joined(args, " ?? "),
  ifnull: (args) => joined(args, " ?? "),
  nvl: (args) => joined(args, " ?? "),
  concat: (args) => joined(args, " + "),
  if: choice,
  iif: choice,
  ifelse: choice,
  cond: choice,
  find: ([list, name, condition]) =>
    condition === undefined ? undefined : `${list}.filter(${name}, ${condition})[0]`,
  first: ([list, ...more]) => (list === undefined || more.length > 0 ? undefined : `${list}[0]`),
  last: ([list, ...more]) =>
    list === undefined || more.length > 0 ? undefined : `${list}[size(${list}) - 1]`,
  isEmpty: ([value]) => value && `(size(${value}) == 0)`,
  is_empty: ([value]) => value && `(size(${value}) == 0)`,
  empty: ([value]) => value && `(size(${value}) == 0)`,
  isNull: ([value]) => value && `(${value} == null)`,
  is_null: ([value]) => value && `(${value} == null)`,
  toFixed: ([value, digits]) => digits && `string(round(${value}, ${digits}))`,
  pluck: ([list, name]) => {
    const field = /^["']([A-Za-z_]\w*)["']$/.exec(name ?? "")?.[1];
    return field === undefined ? undefined : `${list}.map(x, x.${field})`;
  },
};

function joined(args: readonly string[], operator: string): string | undefined {
  return args.length < 2 ? undefined : `(${args.join(operator)})`;
}

function choice([condition, yes, no]: readonly string[]): string | undefined {
  return no === undefined ? undefined : `(${condition} ? ${yes} : ${no})`;
}

/** Names of loops of other languages: their second argument is a variable. */
export const isForeignLoop = (name: string): boolean => LOOP_NAMES.has(name);
const LOOP_NAMES: ReadonlySet<string> = new Set([
  "find",
  "some",
  "every",
  "any",
  "where",
  "select",
  "reduce",
  "flatMap",
  "findIndex",
  "sortBy",
  "groupBy",
  "orderBy",
]);

const sourceOf = ({ input, outerStart, outerEnd }: SyntaxNode): string => input.slice(outerStart, outerEnd);

/**
 * Suggests what a call of an unknown function means.
 * @param at the call
 * @param args its arguments, the receiver of a method first
 */
export function suggestFunction(
  at: SyntaxNode,
  called: string,
  args: readonly SyntaxNode[],
  allowed: readonly string[],
): IssueDetails {
  const [receiver] = args;
  const isNamespaced = at.op === "rcall" && receiver?.op === "id" && NAMESPACES.has(receiver.args);
  const own = (isNamespaced ? args.slice(1) : args).map(sourceOf);
  const translate = Object.hasOwn(TRANSLATED, called) ? TRANSLATED[called] : undefined;
  const translated = translate?.(own);
  if (translated !== undefined)
    return {
      fix: `Write ${translated}.`,
      rewrite: { source: at.input, edits: [{ start: at.start, end: at.end, text: translated }] },
    };
  const near = nearMatch(called, [...allowed, ...Object.keys(FUNCTION_SYNONYMS)]);
  const name = near !== undefined && Object.hasOwn(FUNCTION_SYNONYMS, near) ? FUNCTION_SYNONYMS[near] : near;
  if (name === undefined) return {};
  // `JSON.stringify(x)` becomes `to_json(x)`, and `x.length()` becomes `x.size()`.
  const start = at.op === "rcall" ? at.input.indexOf(called, receiver!.outerEnd) : at.start;
  const edit = { start: isNamespaced ? at.start : start, end: start + called.length, text: name };
  return { did_you_mean: name, fix: `Write ${name}.`, rewrite: { source: at.input, edits: [edit] } };
}

/** Whether a call belongs to an object of JavaScript that is none here. */
export const isNamespacedCall = (at: SyntaxNode, args: readonly SyntaxNode[]): boolean =>
  at.op === "rcall" && args[0]?.op === "id" && NAMESPACES.has(args[0].args);
