/** Indents wrapped lines under the start of their line, so that the indentation still shows the structure. */
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, ViewPlugin } from "@codemirror/view";

/** Maximum hanging indent, in characters: a phone shows about 40 characters in a line. */
const MAX_INDENT = 12;

function indentLines({ state, visibleRanges }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of visibleRanges) {
    for (let at = from; at <= to;) {
      const line = state.doc.lineAt(at);
      const indent = /^ *(?:- +)*/.exec(line.text)![0].length;
      if (indent > 0) builder.add(line.from, line.from, decorationFor(Math.min(indent, MAX_INDENT)));
      at = line.to + 1;
    }
  }
  return builder.finish();
}

const decorations = new Map<number, Decoration>();

function decorationFor(indent: number): Decoration {
  const style = `text-indent:-${indent}ch;padding-inline-start:calc(6px + ${indent}ch)`;
  const decoration = decorations.get(indent) ?? Decoration.line({ attributes: { style } });
  decorations.set(indent, decoration);
  return decoration;
}

export const hangingIndent = ViewPlugin.define(
  (view) => ({
    lines: indentLines(view),
    update({ docChanged, viewportChanged, view: changed }) {
      if (docChanged || viewportChanged) this.lines = indentLines(changed);
    },
  }),
  { decorations: (plugin) => plugin.lines },
);
