/** Parses a JSON value with templates in it to a tree of constants and expressions. */
import { MAX_EXPRESSION_ISSUES, MAX_EXPRESSION_VALUE_DEPTH } from "./limits.ts";
import { issueAt } from "./failures.ts";
import type { DottedNames } from "./field-names.ts";
import { parseCel } from "./parse.ts";
import type { ParsedExpression, ParseResult } from "./parse.ts";
import { closeTemplate, foreignTemplate, rewriteWhole } from "./syntax-rewrites.ts";
import { splitTemplate, wholeExpression } from "./template.ts";
import type { ExpressionIssue } from "./types.ts";

export type ValueTree =
  | { kind: "constant"; value: unknown }
  | { kind: "expression"; parsed: ParsedExpression; path: readonly PropertyKey[] }
  | { kind: "text"; parts: (string | ParsedExpression)[]; path: readonly PropertyKey[] }
  | { kind: "list"; items: ValueTree[] }
  | { kind: "object"; fields: [string, ValueTree][] };

type Path = readonly PropertyKey[];

/** Work that pauses before each expression, so that the caller can yield to the event loop. */
export type Resumable<T> = Generator<undefined, T, undefined>;

/** Runs such work without pauses. */
export function runToCompletion<T>(work: Resumable<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

interface ParsedValue {
  tree: ValueTree;
  issues: ExpressionIssue[];
}

/** Parses all templates of a value. A part with issues becomes a constant without a value. */
export const parseValue = (value: unknown): ParsedValue => runToCompletion(parseValueIncrementally(value));

/** @param names the fields that the expressions may read, for the fixes of those that do not parse */
export function* parseValueIncrementally(value: unknown, names?: DottedNames): Resumable<ParsedValue> {
  const issues: ExpressionIssue[] = [];
  const report: Report = (found, path) => {
    for (const issue of found)
      if (issues.length < MAX_EXPRESSION_ISSUES) issues.push({ ...issue, path: [...path] });
  };
  const tree = yield* parseAt(value, [], { report, parse: (source) => parseCel(source, names) });
  return { tree, issues };
}

type Report = (issues: readonly ExpressionIssue[], path: Path) => void;

interface Context {
  report: Report;
  parse(source: string): ParseResult;
}

/** Replaces an expression with issues. */
const UNKNOWN: ValueTree = { kind: "constant", value: undefined };

function* parseAt(value: unknown, path: Path, context: Context): Resumable<ValueTree> {
  if (typeof value === "string") return yield* parseText(value, path, context);
  if (typeof value !== "object" || value === null) return { kind: "constant", value };
  if (path.length > MAX_EXPRESSION_VALUE_DEPTH) {
    const message = `must not be nested deeper than ${MAX_EXPRESSION_VALUE_DEPTH} levels`;
    context.report([{ code: "expression_too_deep", message }], path);
    return UNKNOWN;
  }
  if (Array.isArray(value)) {
    const items: ValueTree[] = [];
    for (const [index, item] of value.entries()) items.push(yield* parseAt(item, [...path, index], context));
    return foldConstants({ kind: "list", items }, items, (values) => values);
  }
  const names = Object.keys(value);
  const fields: [string, ValueTree][] = [];
  for (const name of names)
    fields.push([name, yield* parseAt((value as Record<string, unknown>)[name], [...path, name], context)]);
  const trees = fields.map(([, tree]) => tree);
  return foldConstants({ kind: "object", fields }, trees, (values) =>
    Object.fromEntries(names.map((name, index) => [name, values[index]])),
  );
}

/** Makes a tree constant if all of its parts are. */
function foldConstants(
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

/** Reports an expression of another template language: it would stay in the text unevaluated. */
function reportForeignTemplate(text: string, whole: string, path: Path, report: Report): void {
  const found = foreignTemplate(text);
  if (found === undefined) return;
  const fix = 'Write ${{ … }}. For the characters {{ themselves, write ${{ "{{ … }}" }}.';
  const message = text.startsWith("{{", found.at) ? "lacks the $ before {{" : "is not in the form ${{ … }}";
  const rewrite = rewriteWhole(whole, foreignTemplate(whole)?.translated ?? whole);
  report([issueAt("expression_syntax", { input: text, pos: found.at }, message, { fix, rewrite })], path);
}

function* parseText(text: string, path: Path, { report, parse }: Context): Resumable<ValueTree> {
  if (!text.includes("${{")) {
    reportForeignTemplate(text, text, path, report);
    return { kind: "constant", value: text };
  }
  const template = splitTemplate(text);
  if (template.unclosedAt !== undefined) {
    const place = { input: text, pos: template.unclosedAt };
    const fix =
      "Close it with }}, and every text inside it with its quote. For the characters ${{ themselves, write $${{.";
    const closed = closeTemplate(text);
    const more = { fix, ...(closed !== undefined && { rewrite: rewriteWhole(text, closed) }) };
    report([issueAt("expression_syntax", place, "has a ${{ that is not closed", more)], path);
    return UNKNOWN;
  }
  const whole = wholeExpression(template);
  if (whole !== undefined) {
    yield;
    const parsed = parse(whole);
    if (!("issues" in parsed)) return { kind: "expression", parsed, path };
    report(parsed.issues, path);
    return parsed.partial === undefined ? UNKNOWN : { kind: "expression", parsed: parsed.partial, path };
  }
  const parts: (string | ParsedExpression)[] = [];
  for (const part of template.parts) {
    if ("text" in part) {
      reportForeignTemplate(part.text, text, path, report);
      parts.push(part.text);
      continue;
    }
    yield;
    const parsed = parse(part.source);
    if (!("issues" in parsed)) parts.push(parsed);
    else {
      report(parsed.issues, path);
      if (parsed.partial !== undefined) parts.push(parsed.partial);
    }
  }
  if (parts.every((part) => typeof part === "string")) return { kind: "constant", value: parts.join("") };
  return { kind: "text", parts, path };
}
