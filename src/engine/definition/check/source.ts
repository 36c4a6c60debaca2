/** Reads the source of a definition (an object, or YAML or JSON text) to a plain JSON value of limited size. */
import { exceedsDepth, MAX_JSON_DEPTH } from "../../../../schemas/text.ts";
import { describeLoss, withLongNumbers } from "../../../core/json-text.ts";
import { type LocatedIssue, MAX_ISSUES } from "./check-report.ts";
import { readYaml, type ParsedYaml, TOO_DEEP } from "./read-yaml.ts";
import type { MisreadScalar } from "./yaml-scalars.ts";
import type { Issue } from "../../../../schemas/problem.ts";

/** Maximum size of a definition, in bytes of text. */
export const MAX_BYTES = 1024 * 1024;
/** Maximum size of a definition as JSON, in bytes: aliases and merge keys copy what they refer to. */
const MAX_EXPANDED_BYTES = 4 * MAX_BYTES;

export interface Source {
  /** Plain JSON; undefined if the source could not be read. */
  value: unknown;
  /** Why the source could not be read. */
  issues: Issue[];
  /** Issues of single values: with one, `value` can be checked, but not stored. */
  valueIssues: LocatedIssue[];
  /** Values of YAML that may have been meant as text. */
  misread: readonly MisreadScalar[];
  /** Returns the positions of issues in the text; undefined if the source is an object. */
  locate?: ParsedYaml["locate"];
}

type Read = Pick<ParsedYaml, "value" | "issues" | "valueIssues" | "misread"> & Pick<Source, "locate">;

const unreadable = (code: string, message: string, fix?: string): Source => ({
  value: undefined,
  issues: [{ path: "", code, message, ...(fix !== undefined && { fix }) }],
  valueIssues: [],
  misread: [],
});

const TOO_LARGE = `must be at most ${MAX_BYTES / 1024} KiB`;

export function readSource(source: unknown): Source {
  if (typeof source !== "string")
    return toSource({ value: source, issues: [], valueIssues: [], misread: [] });
  if (source.length > MAX_BYTES || Buffer.byteLength(source) > MAX_BYTES)
    return unreadable("too_large", TOO_LARGE);
  return toSource(readYaml(source));
}

/** Checks what holds for every definition, and copies it: aliases share nodes, and a stored value must not. */
function toSource(read: Read, maxBytes = MAX_EXPANDED_BYTES): Source {
  const issues = read.issues.map((issue) => ({ path: "", ...issue }));
  const issue = issues.length > 0 ? undefined : formIssue(read.value);
  if (issues.length > 0 || issue !== undefined)
    return { ...read, value: undefined, issues: issue === undefined ? issues : [issue], valueIssues: [] };
  const valueIssues = [...read.valueIssues, ...unstorable(read.value, read.valueIssues)];
  let text: string;
  try {
    text = JSON.stringify(read.value);
  } catch {
    return { ...read, ...unreadable("wrong_type", "must be JSON") };
  }
  if (Buffer.byteLength(text) > maxBytes) return { ...read, ...unreadable("too_large", TOO_LARGE) };
  // JSON has all digits of 1e20, which would be read as a long number where the definition comes back.
  const exact = withLongNumbers(text);
  const value: unknown = JSON.parse(exact, (key, inner: unknown) => (key === PROTO ? undefined : inner));
  return { ...read, value, issues, valueIssues };
}

const PROTO = "__proto__";

/** Checks what holds for every definition: it is an object, and not nested too deep. */
function formIssue(value: unknown): Issue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return {
      path: "",
      code: "wrong_type",
      message: "must be an object with steps",
      fix: "Begin with steps:.",
    };
  return exceedsDepth(value, MAX_JSON_DEPTH) ? { path: "", ...TOO_DEEP } : undefined;
}

/** Finds numbers that JSON can't represent, unless they are reported, and keys named __proto__. */
function unstorable(value: unknown, reported: readonly LocatedIssue[]): LocatedIssue[] {
  const known = new Set(reported.map(({ path }) => JSON.stringify(path)));
  const issues: LocatedIssue[] = [];
  const queue: { value: unknown; path: readonly PropertyKey[] }[] = [{ value, path: [] }];
  // The list grows while it is walked.
  for (const { value: next, path } of queue) {
    if (issues.length >= MAX_ISSUES) break;
    if (typeof next === "number" && !Number.isFinite(next) && !known.has(JSON.stringify(path)))
      issues.push({ path, ...describeLoss({ kind: "not_finite", text: String(next) }) });
    if (typeof next !== "object" || next === null) continue;
    for (const [key, inner] of Object.entries(next)) {
      const innerPath = [...path, Array.isArray(next) ? Number(key) : key];
      if (key === PROTO)
        issues.push({
          path: innerPath,
          code: "not_allowed",
          message: "must not be the name of a key",
          fix: "Rename it: JavaScript gives this name a special meaning.",
        });
      else queue.push({ value: inner, path: innerPath });
    }
  }
  return issues;
}
