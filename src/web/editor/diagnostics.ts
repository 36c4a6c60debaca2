/** Converts issues to CodeMirror diagnostics: the underlined range, the message, and the button that applies the fix. */
import type { Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import * as texts from "#texts/editor";
import { type EditorIssue, issueSentence } from "./format.ts";

/** A key with its value in the same line, or else the next word: marked where the end of the value is not known. */
const MARKED_RANGE =
  /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s:,[\]{}]+)(?:\s*:\s+(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,[\]{}#][^,[\]{}#]*))?/;

/**
 * Returns the diagnostics in the order of the text; an issue without a line comes first.
 * @param onFix applies the fix of an issue; undefined where the text can't be changed
 */
export function diagnostics(
  doc: Text,
  issues: readonly EditorIssue[],
  onFix?: (issue: EditorIssue) => void,
): Diagnostic[] {
  return issues
    .map((issue): Diagnostic => {
      const from = offsetIn(doc, issue);
      return {
        from,
        to: endIn(doc, issue, from),
        severity: issue.severity,
        message: issueSentence(issue),
        ...(onFix !== undefined &&
          issue.patch !== undefined && { actions: [{ name: texts.applyFix, apply: () => onFix(issue) }] }),
      };
    })
    .toSorted((a, b) => a.from - b.from);
}

/** The offset of an issue; the nearest one when the text has become shorter since. */
export function offsetIn(doc: Text, { line = 1, column = 1 }: Pick<EditorIssue, "line" | "column">): number {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const indent = column === 1 ? (/^\s*/.exec(at.text)?.[0].length ?? 0) : 0;
  return Math.min(at.from + Math.max(column - 1, indent), at.to);
}

function endIn(doc: Text, { endLine, endColumn }: EditorIssue, from: number): number {
  if (endLine !== undefined && endColumn !== undefined)
    return Math.max(from, offsetIn(doc, { line: endLine, column: endColumn }));
  const line = doc.lineAt(from);
  const rest = line.text.slice(from - line.from);
  const marked = MARKED_RANGE.exec(rest)?.[0].trimEnd() ?? rest;
  return Math.min(from + marked.length, line.to);
}

/**
 * The issue with a fix that a cursor is in, or else the first one of its line.
 * @param at the offset of the cursor
 */
export function fixableAt(doc: Text, issues: readonly EditorIssue[], at: number): EditorIssue | undefined {
  const line = doc.lineAt(at);
  const ofLine = issues
    .filter(({ patch }) => patch !== undefined)
    .map((issue) => ({ issue, from: offsetIn(doc, issue) }))
    .filter(({ from }) => from >= line.from && from <= line.to);
  const around = ofLine.find(({ issue, from }) => at >= from && at <= endIn(doc, issue, from));
  return (around ?? ofLine[0])?.issue;
}
