/** Completion and hovering in CodeMirror, by what ./suggestions.ts knows. `yaml` and the schema come at the first word. */
import {
  autocompletion,
  closeCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  selectedCompletion,
  startCompletion,
} from "@codemirror/autocomplete";
import { insertNewlineAndIndent } from "@codemirror/commands";
import { type EditorState, type Extension, Prec } from "@codemirror/state";
import { type EditorView, hoverTooltip, keymap, type Tooltip } from "@codemirror/view";
import type { Format } from "./format.ts";
import { loadCompletionData } from "./completion-data.ts";
import type { CompletionData, Suggestion, Suggestions } from "./suggestions.ts";

/** Beyond, reading the text at each word would be felt: completion then comes only when asked for. */
const LARGE = 80_000;

export interface CompletionSettings {
  format: () => Format;
  /** What each step gives, where validation said so. */
  steps: () => CompletionData["steps"];
}

interface Option extends Completion {
  /** Whether what it would write stands there already. */
  isWritten(state: EditorState): boolean;
}

export function schemaCompletion(settings: CompletionSettings): Extension {
  return [
    // Before the completion's own keys, which have the highest precedence too.
    Prec.highest(keymap.of([{ key: "Enter", run: newlineAfterWord }])),
    autocompletion({
      override: [(context) => complete(context, settings)],
      icons: false,
      activateOnTypingDelay: 60,
      maxRenderedOptions: 60,
    }),
    hoverTooltip((view, pos) => hover(view, pos, settings)),
  ];
}

/** After a word that is typed in full, Enter means a new line: taking the option would change nothing. */
function newlineAfterWord(view: EditorView): boolean {
  const selected = selectedCompletion(view.state) as Option | null;
  if (selected === null || !selected.isWritten(view.state)) return false;
  closeCompletion(view);
  return insertNewlineAndIndent(view);
}

async function known({ steps }: CompletionSettings): Promise<CompletionData | undefined> {
  const found = await loadCompletionData();
  const outputs = steps();
  return found && { ...found, ...(outputs && { steps: outputs }) };
}

async function complete(
  { state, pos, explicit }: CompletionContext,
  settings: CompletionSettings,
): Promise<CompletionResult | null> {
  const line = state.doc.lineAt(pos);
  const before = line.text.slice(0, pos - line.from);
  // Not at each space: only in a word, and where a value, an item or a name begins.
  if (!explicit && (state.doc.length > LARGE || !/(?:[\w"'.[,]|[:\-{,[]\s|\$\{\{)$/.test(before)))
    return null;
  const [{ suggest }, all] = await Promise.all([import("./suggestions.ts"), known(settings)]);
  if (all === undefined) return null;
  const found = suggest(state.doc.toString(), pos, settings.format(), all, explicit);
  if (found === undefined || found.list.length === 0) return null;
  return {
    from: found.from,
    options: found.list.map((it) => option(it, found, pos)),
    validFor: /^[\w./-]*$/,
  };
}

function option(it: Suggestion, { from, replace }: Suggestions, pos: number): Option {
  const { label, detail, info, boost, kind, reopenCompletion } = it;
  const insert = it.apply ?? label;
  const behind = replace.to - pos;
  return {
    label,
    type: kind,
    ...(detail !== undefined && { detail }),
    ...(boost !== undefined && { boost }),
    ...(info !== undefined && { info: () => paragraphs(info) }),
    isWritten: (state) => state.sliceDoc(replace.from, state.selection.main.head + behind) === insert,
    apply: (view, _completion, start, end) => {
      const at = start - (from - replace.from);
      view.dispatch({
        changes: { from: at, to: end + behind, insert },
        selection: { anchor: at + insert.length },
        userEvent: "input.complete",
        scrollIntoView: true,
      });
      if (reopenCompletion === true) startCompletion(view);
    },
  };
}

async function hover(view: EditorView, pos: number, settings: CompletionSettings): Promise<Tooltip | null> {
  const { doc } = view.state;
  if (doc.length > LARGE) return null;
  const [{ hoverInfoAt }, all] = await Promise.all([import("./hover-info.ts"), known(settings)]);
  const told = all && hoverInfoAt(doc.toString(), pos, all.schema);
  if (told === undefined) return null;
  return { pos: told.from, end: told.to, create: () => ({ dom: paragraphs(told.text) }) };
}

function paragraphs(text: string): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "cm-told";
  for (const line of text.split("\n")) dom.appendChild(document.createElement("p")).textContent = line;
  return dom;
}
