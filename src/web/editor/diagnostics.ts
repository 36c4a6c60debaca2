/** Faults as CodeMirror's diagnostics: what is underlined, and what the sign in the gutter says. */
import type { Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { EditorIssue } from "./format.ts";

/** A key with the value behind it in its line, or whatever word there is. */
const THING =
  /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s:,[\]{}]+)(?:\s*:\s+(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,[\]{}#][^,[\]{}#]*))?/;

/** What the fault is about, in one line. */
const sentence = ({ path, message, fix }: EditorIssue): string =>
  `${path} ${message}${fix === undefined ? "" : `. ${fix}`}`.trimStart();

/** In order; a fault without a place stands at the beginning. */
export function diagnostics(doc: Text, issues: readonly EditorIssue[]): Diagnostic[] {
  return issues
    .map((issue): Diagnostic => {
      const from = offsetIn(doc, issue);
      const line = doc.lineAt(from);
      const rest = line.text.slice(from - line.from);
      const thing = THING.exec(rest)?.[0].trimEnd() ?? rest;
      return {
        from,
        to: Math.min(from + thing.length, line.to),
        severity: issue.severity,
        message: sentence(issue),
      };
    })
    .toSorted((a, b) => a.from - b.from);
}

/** Where a fault stands: nearby, where the text has become shorter since. */
export function offsetIn(doc: Text, { line = 1, column = 1 }: EditorIssue): number {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const indent = column === 1 ? (/^\s*/.exec(at.text)?.[0].length ?? 0) : 0;
  return Math.min(at.from + Math.max(column - 1, indent), at.to);
}
