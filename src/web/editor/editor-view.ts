/** The CodeMirror view of an editor: created once, then updated with `show`. Independent of React. */
import {
  acceptCompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, nextDiagnostic, previousDiagnostic, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { styleNonce } from "../app/nonce.ts";
import { schemaCompletion } from "./completion.ts";
import type { EditorIssue, Format } from "./format.ts";
import { hangingIndent } from "./hanging-indent.ts";
import { editorTheme } from "./editor-theme.ts";
import { diagnostics, offsetIn } from "./diagnostics.ts";
import type { CompletionData } from "./suggestions.ts";
import { yamlIndent } from "./yaml-indent.ts";

interface EditorContent {
  text: string;
  format: Format;
  dark: boolean;
  readOnly: boolean;
  label: string;
  /** The id of the hint that explains the keys. */
  describedBy: string | undefined;
  minHeight: number;
}

export interface EditorCallbacks {
  onChange(text: string): void;
  /** @returns whether the key was handled */
  onSave(): boolean;
  /** @returns whether the editor has the command */
  onFormat(): boolean;
  steps(): CompletionData["steps"];
  /** The project whose connections are completed; undefined for a user with one project. */
  project(): string | undefined;
}

export interface Editor {
  show(content: EditorContent): void;
  mark(issues: readonly EditorIssue[]): void;
  jump(issue: EditorIssue): void;
  destroy(): void;
}

/** Marks a change from outside, which must not call `onChange`. */
const fromOutside = Annotation.define<true>();

export function createEditor(parent: Element, callbacks: EditorCallbacks): Editor {
  const language = new Compartment();
  const historyConfig = new Compartment();
  const appearance = new Compartment();
  let format: Format | undefined;
  const view = new EditorView({
    parent,
    extensions: [
      EditorView.cspNonce.of(styleNonce()),
      language.of([]),
      historyConfig.of([]),
      appearance.of([]),
      editing,
      schemaCompletion({
        format: () => format ?? "yaml",
        steps: () => callbacks.steps(),
        project: () => callbacks.project(),
      }),
      keymap.of([
        { key: "Mod-s", run: () => callbacks.onSave(), preventDefault: true },
        { key: "Shift-Alt-f", run: () => callbacks.onFormat(), preventDefault: true },
      ]),
      EditorView.updateListener.of(({ docChanged, transactions, state }) => {
        if (docChanged && !transactions.some((transaction) => transaction.annotation(fromOutside)))
          callbacks.onChange(state.doc.toString());
      }),
    ],
  });
  return {
    show(content) {
      if (content.format !== format) {
        format = content.format;
        // Clears the history: undo must not restore a text of the other format.
        view.dispatch({ effects: historyConfig.reconfigure([]) });
        view.dispatch({ effects: language.reconfigure(format === "json" ? json() : [yaml(), yamlIndent]) });
      }
      view.dispatch({
        ...minimalChange(view.state, content.text),
        effects: [appearance.reconfigure(appearanceOf(content))],
        annotations: fromOutside.of(true),
      });
      if (historyConfig.get(view.state) !== undoHistory)
        view.dispatch({ effects: historyConfig.reconfigure(undoHistory) });
    },
    mark: (issues) => view.dispatch(setDiagnostics(view.state, diagnostics(view.state.doc, issues))),
    jump(issue) {
      const anchor = offsetIn(view.state.doc, issue);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

const undoHistory = history();

const editing: Extension = [
  lintGutter(),
  lineNumbers(),
  foldGutter({ openText: "⌄", closedText: "›" }),
  highlightActiveLineGutter(),
  highlightActiveLine(),
  drawSelection(),
  indentUnit.of("  "),
  EditorState.tabSize.of(2),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  highlightSelectionMatches(),
  search({ top: true }),
  // Definitions contain long sentences, and a phone is narrow.
  EditorView.lineWrapping,
  hangingIndent,
  keymap.of([
    { key: "F8", run: nextDiagnostic, shift: previousDiagnostic },
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...defaultKeymap,
  ]),
];

/** The smallest change that results in the given text, so that the cursor and folded ranges survive where possible. */
function minimalChange(
  state: EditorState,
  text: string,
): Pick<Parameters<EditorView["dispatch"]>[0], "changes"> {
  const current = state.doc.toString();
  if (current === text) return {};
  const shorter = Math.min(current.length, text.length);
  let from = 0;
  while (from < shorter && current[from] === text[from]) from += 1;
  let end = 0;
  while (end < shorter - from && current.at(-1 - end) === text.at(-1 - end)) end += 1;
  return { changes: { from, to: current.length - end, insert: text.slice(from, text.length - end) } };
}

function appearanceOf({ dark, readOnly, label, describedBy, minHeight }: EditorContent): Extension {
  return [
    editorTheme(dark),
    EditorView.theme({
      "&": { minHeight: `${minHeight}px`, maxHeight: `max(70vh, ${minHeight}px)` },
      ".cm-content, .cm-gutter": { minHeight: `${minHeight}px` },
    }),
    EditorState.readOnly.of(readOnly),
    // A read-only text opens no keyboard on a phone, and Tab still reaches it.
    EditorView.editable.of(!readOnly),
    readOnly ? [] : keymap.of([{ key: "Tab", run: acceptCompletion }, indentWithTab]),
    EditorView.contentAttributes.of({
      "aria-label": label,
      ...(describedBy !== undefined && { "aria-describedby": describedBy }),
      tabindex: "0",
      ...(readOnly && { "aria-readonly": "true" }),
    }),
  ];
}
