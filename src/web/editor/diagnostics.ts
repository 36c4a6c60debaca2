/** Converts issues to CodeMirror diagnostics: the underlined range, and the message of the gutter's sign. */
import type { Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import { type EditorIssue, issueSentence } from "./format.ts";

/** A key with its value in the same line, or else the next word. The space before the colon of `a ? b : c` makes no key. */
const MARKED_RANGE =
  /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s:,[\]{}]+)(?::\s+(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,[\]{}#][^,[\]{}#]*))?/;

/** @returns the diagnostics in the order of the text; an issue without a line comes first */
export function diagnostics(doc: Text, issues: readonly EditorIssue[]): Diagnostic[] {
  return issues
    .map((issue): Diagnostic => {
      const from = offsetIn(doc, issue);
      const line = doc.lineAt(from);
      const rest = line.text.slice(from - line.from);
      const marked = MARKED_RANGE.exec(rest)?.[0].trimEnd() ?? rest;
      return {
        from,
        to: Math.min(from + marked.length, line.to),
        severity: issue.severity,
        message: issueSentence(issue),
      };
    })
    .toSorted((a, b) => a.from - b.from);
}

/** The offset of an issue; the nearest one when the text has become shorter since. */
export function offsetIn(doc: Text, { line = 1, column = 1 }: EditorIssue): number {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const indent = column === 1 ? (/^\s*/.exec(at.text)?.[0].length ?? 0) : 0;
  return Math.min(at.from + Math.max(column - 1, indent), at.to);
}
