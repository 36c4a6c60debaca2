/** What is wrapped goes on under the beginning of its line, so that the indentation still shows what belongs to what. */
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, ViewPlugin } from "@codemirror/view";

/** Deeper is cut off: a phone has room for 40 letters. */
const DEEPEST = 12;

function hang({ state, visibleRanges }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of visibleRanges) {
    for (let at = from; at <= to;) {
      const line = state.doc.lineAt(at);
      const indent = /^ *(?:- +)*/.exec(line.text)![0].length;
      if (indent > 0) builder.add(line.from, line.from, hanging(Math.min(indent, DEEPEST)));
      at = line.to + 1;
    }
  }
  return builder.finish();
}

const known = new Map<number, Decoration>();

function hanging(indent: number): Decoration {
  const style = `text-indent:-${indent}ch;padding-left:calc(6px + ${indent}ch)`;
  const made = known.get(indent) ?? Decoration.line({ attributes: { style } });
  known.set(indent, made);
  return made;
}

export const hangingIndent = ViewPlugin.define(
  (view) => ({
    lines: hang(view),
    update({ docChanged, viewportChanged, view: now }) {
      if (docChanged || viewportChanged) this.lines = hang(now);
    },
  }),
  { decorations: (plugin) => plugin.lines },
);
