/** The one CodeMirror of an editor: made once, then told what to show. Knows nothing of React. */
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

/** What an editor shows and lets do. */
interface Shown {
  text: string;
  format: Format;
  dark: boolean;
  readOnly: boolean;
  label: string;
  /** The id of what tells how to leave it. */
  describedBy: string | undefined;
  minHeight: number;
}

export interface EditorCallbacks {
  onChange(text: string): void;
  /** @returns whether there is something to save with */
  onSave(): boolean;
  steps(): CompletionData["steps"];
}

export interface Editor {
  show(shown: Shown): void;
  mark(issues: readonly EditorIssue[]): void;
  jump(issue: EditorIssue): void;
  destroy(): void;
}

/** A change that came from outside is not told back. */
const fromOutside = Annotation.define<true>();

export function createEditor(parent: Element, told: EditorCallbacks): Editor {
  const language = new Compartment();
  const past = new Compartment();
  const dress = new Compartment();
  let format: Format | undefined;
  const view = new EditorView({
    parent,
    extensions: [
      EditorView.cspNonce.of(styleNonce()),
      language.of([]),
      past.of([]),
      dress.of([]),
      writing,
      schemaCompletion({ format: () => format ?? "yaml", steps: () => told.steps() }),
      keymap.of([{ key: "Mod-s", run: () => told.onSave(), preventDefault: true }]),
      EditorView.updateListener.of(({ docChanged, transactions, state }) => {
        if (docChanged && !transactions.some((it) => it.annotation(fromOutside)))
          told.onChange(state.doc.toString());
      }),
    ],
  });
  return {
    show(shown) {
      if (shown.format !== format) {
        format = shown.format;
        // Undoing must not bring back a text of the other format.
        view.dispatch({ effects: past.reconfigure([]) });
        view.dispatch({ effects: language.reconfigure(format === "json" ? json() : [yaml(), yamlIndent]) });
      }
      view.dispatch({
        ...replacement(view.state, shown.text),
        effects: [dress.reconfigure(dressed(shown))],
        annotations: fromOutside.of(true),
      });
      if (past.get(view.state) !== remembering) view.dispatch({ effects: past.reconfigure(remembering) });
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

const remembering = history();

const writing: Extension = [
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
  // Long sentences are the rule in a definition, and a phone is narrow.
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

/** The least change that makes it the given text: the cursor and what is folded stay where they can. */
function replacement(
  state: EditorState,
  text: string,
): Pick<Parameters<EditorView["dispatch"]>[0], "changes"> {
  const now = state.doc.toString();
  if (now === text) return {};
  const shorter = Math.min(now.length, text.length);
  let from = 0;
  while (from < shorter && now[from] === text[from]) from += 1;
  let end = 0;
  while (end < shorter - from && now.at(-1 - end) === text.at(-1 - end)) end += 1;
  return { changes: { from, to: now.length - end, insert: text.slice(from, text.length - end) } };
}

function dressed({ dark, readOnly, label, describedBy, minHeight }: Shown): Extension {
  return [
    editorTheme(dark),
    EditorView.theme({
      "&": { minHeight: `${minHeight}px`, maxHeight: `max(70vh, ${minHeight}px)` },
      ".cm-content, .cm-gutter": { minHeight: `${minHeight}px` },
    }),
    EditorState.readOnly.of(readOnly),
    // What can't be changed brings up no keyboard on a phone, and is still reached by Tab.
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
