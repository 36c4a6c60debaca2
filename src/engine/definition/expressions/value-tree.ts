/** A JSON value with templates in it, parsed: which parts are constant, which are expressions. */
import { MAX_EXPRESSION_ISSUES, MAX_EXPRESSION_VALUE_DEPTH } from "./limits.ts";
import { issueAt } from "./failures.ts";
import { parseCel } from "./parse.ts";
import type { ParsedExpression } from "./parse.ts";
import { splitTemplate, wholeExpression } from "./template.ts";
import type { ExpressionIssue } from "./types.ts";

export type ValueTree =
  | { kind: "constant"; value: unknown }
  | { kind: "expression"; parsed: ParsedExpression; path: readonly PropertyKey[] }
  | { kind: "text"; parts: (string | ParsedExpression)[]; path: readonly PropertyKey[] }
  | { kind: "list"; items: ValueTree[] }
  | { kind: "object"; fields: [string, ValueTree][] };

type Path = readonly PropertyKey[];

/** Work in pieces: it stops before each expression, so that others can be let in between. */
export type Resumable<T> = Generator<undefined, T, undefined>;

/** Does all pieces at once. */
export function runToCompletion<T>(pieces: Resumable<T>): T {
  for (;;) {
    const { done, value } = pieces.next();
    if (done === true) return value;
  }
}

interface ParsedValue {
  tree: ValueTree;
  issues: ExpressionIssue[];
}

/** Parses all templates of a value; the parts with faults are left out of the tree as constants. */
export const parseValue = (value: unknown): ParsedValue => runToCompletion(parseValueIncrementally(value));

export function* parseValueIncrementally(value: unknown): Resumable<ParsedValue> {
  const issues: ExpressionIssue[] = [];
  const tree = yield* parseAt(value, [], (found, path) => {
    for (const issue of found)
      if (issues.length < MAX_EXPRESSION_ISSUES) issues.push({ ...issue, path: [...path] });
  });
  return { tree, issues };
}

type Tell = (issues: readonly ExpressionIssue[], path: Path) => void;

/** What stands in the place of an expression that has faults. */
const UNKNOWN: ValueTree = { kind: "constant", value: undefined };

function* parseAt(value: unknown, path: Path, tell: Tell): Resumable<ValueTree> {
  if (typeof value === "string") return yield* parseText(value, path, tell);
  if (typeof value !== "object" || value === null) return { kind: "constant", value };
  if (path.length > MAX_EXPRESSION_VALUE_DEPTH) {
    const message = `is nested deeper than ${MAX_EXPRESSION_VALUE_DEPTH} levels`;
    tell([{ code: "expression_too_deep", message }], path);
    return UNKNOWN;
  }
  if (Array.isArray(value)) {
    const items: ValueTree[] = [];
    for (const [index, item] of value.entries()) items.push(yield* parseAt(item, [...path, index], tell));
    return settled({ kind: "list", items }, items, (values) => values);
  }
  const names = Object.keys(value);
  const fields: [string, ValueTree][] = [];
  for (const name of names)
    fields.push([name, yield* parseAt((value as Record<string, unknown>)[name], [...path, name], tell)]);
  const trees = fields.map(([, tree]) => tree);
  return settled({ kind: "object", fields }, trees, (values) =>
    Object.fromEntries(names.map((name, index) => [name, values[index]])),
  );
}

/** A tree all of whose parts are constant is constant. */
function settled(
  tree: ValueTree,
  parts: readonly ValueTree[],
  make: (values: unknown[]) => unknown,
): ValueTree {
  const values: unknown[] = [];
  for (const part of parts) {
    if (part.kind !== "constant" || part === UNKNOWN) return tree;
    values.push(part.value);
  }
  return { kind: "constant", value: make(values) };
}

/** What other template languages write for an expression: nobody means these characters themselves. */
const SLIP = /(?<!\$)\{\{-?\s*(?:steps|inputs|item|run)\s*[.[}]/;

/** Tells of an expression whose `$` was forgotten; it would stay as it stands. */
function tellSlip(text: string, path: Path, tell: Tell): void {
  const found = SLIP.exec(text);
  if (found === null) return;
  const fix = 'Write ${{ … }}. Where the characters themselves are meant: ${{ "{{ … }}" }}.';
  tell(
    [issueAt("expression_syntax", { input: text, pos: found.index }, "misses the $ before {{", { fix })],
    path,
  );
}

function* parseText(text: string, path: Path, tell: Tell): Resumable<ValueTree> {
  if (!text.includes("${{")) {
    tellSlip(text, path, tell);
    return { kind: "constant", value: text };
  }
  const template = splitTemplate(text);
  if (template.unclosedAt !== undefined) {
    const place = { input: text, pos: template.unclosedAt };
    const fix =
      "Close it with }}, and each string inside with its quote; $${{ stands for the characters themselves.";
    tell([issueAt("expression_syntax", place, "opens ${{ and does not close it", { fix })], path);
    return UNKNOWN;
  }
  const whole = wholeExpression(template);
  if (whole !== undefined) {
    yield;
    const parsed = parseCel(whole);
    if (!("issues" in parsed)) return { kind: "expression", parsed, path };
    tell(parsed.issues, path);
    return UNKNOWN;
  }
  const parts: (string | ParsedExpression)[] = [];
  for (const part of template.parts) {
    if ("text" in part) {
      tellSlip(part.text, path, tell);
      parts.push(part.text);
      continue;
    }
    yield;
    const parsed = parseCel(part.source);
    if (!("issues" in parsed)) parts.push(parsed);
    else tell(parsed.issues, path);
  }
  if (parts.every((part) => typeof part === "string")) return { kind: "constant", value: parts.join("") };
  return { kind: "text", parts, path };
}
