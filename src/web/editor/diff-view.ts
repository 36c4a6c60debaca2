/** Compares two texts in CodeMirror: side by side in a wide window, unified in a narrow one. */
import { yaml } from "@codemirror/lang-yaml";
import { getChunks, goToNextChunk, goToPreviousChunk, MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import * as texts from "#texts/editor";
import { styleNonce } from "../app/nonce.ts";
import { hangingIndent } from "./hanging-indent.ts";
import { editorTheme } from "./editor-theme.ts";
import { DARK, LIGHT } from "./palette.ts";

export interface DiffOptions {
  before: string;
  after: string;
  beforeLabel: string;
  afterLabel: string;
  wide: boolean;
  dark: boolean;
  /** Hide unchanged lines. */
  collapsed: boolean;
}

export interface DiffView {
  /** Number of changes. */
  count: number;
  next(): void;
  previous(): void;
  destroy(): void;
}

export function createDiffView(parent: Element, options: DiffOptions): DiffView {
  const { before, after, beforeLabel, afterLabel, wide, collapsed } = options;
  const collapse = collapsed ? { collapseUnchanged: { margin: 3, minSize: 4 } } : {};
  const extensionsFor = (label: string): Extension => [
    readOnlyExtensions(options),
    EditorView.contentAttributes.of({ "aria-label": label }),
  ];
  if (wide) {
    const merge = new MergeView({
      a: { doc: before, extensions: extensionsFor(beforeLabel) },
      b: { doc: after, extensions: extensionsFor(afterLabel) },
      parent,
      ...collapse,
    });
    return createHandle(merge.b, () => merge.destroy());
  }
  const view = new EditorView({
    parent,
    doc: after,
    extensions: [
      extensionsFor(texts.bothVersions({ before: beforeLabel, after: afterLabel })),
      unifiedMergeView({ original: before, mergeControls: false, ...collapse }),
    ],
  });
  return createHandle(view, () => view.destroy());
}

function createHandle(view: EditorView, destroy: () => void): DiffView {
  return {
    count: getChunks(view.state)?.chunks.length ?? 0,
    next: () => void goToNextChunk(view),
    previous: () => void goToPreviousChunk(view),
    destroy,
  };
}

const sign = (text: string, color: string) => ({
  background: "none",
  "&::before": { content: `"${text}"`, color, fontWeight: "700" },
});

function readOnlyExtensions({ dark }: DiffOptions): Extension {
  const palette = dark ? DARK : LIGHT;
  const deleted = { backgroundColor: palette.deleted };
  const inserted = { backgroundColor: palette.inserted };
  return [
    EditorView.cspNonce.of(styleNonce()),
    yaml(),
    editorTheme(dark),
    EditorState.phrases.of({ "$ unchanged lines": texts.unchangedLines }),
    lineNumbers(),
    EditorView.lineWrapping,
    hangingIndent,
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: "0", "aria-readonly": "true" }),
    EditorView.theme({
      ".cm-changeGutter": { width: "1.2em", paddingInlineStart: "4px" },
      // A sign in addition to the colour (WCAG 1.4.1).
      "&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter": sign("−", palette.error),
      "&.cm-merge-b .cm-changedLineGutter": sign("+", palette.string),
      "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": deleted,
      "&.cm-merge-b .cm-changedLine, .cm-insertedLine": inserted,
      "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": { background: palette.deletedText },
      "&.cm-merge-b .cm-changedText": { background: palette.insertedText },
      ".cm-deletedChunk del, .cm-insertedLine ins, .cm-insertedLine": { textDecoration: "none" },
      ".cm-collapsedLines": {
        background: palette.line,
        color: palette.muted,
        padding: "4px 10px",
        "&::before, &::after": { content: '"⋯"' },
      },
    }),
  ];
}
