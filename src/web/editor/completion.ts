/** Completion and hover help in CodeMirror. `./suggestions.ts`, `yaml` and the schema are loaded at the first keystroke. */
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
import { completeSql, type SqlCompletionSettings } from "./sql-completion.ts";
import type { CompletionData, Suggestion, Suggestions } from "./suggestions.ts";

/** Maximum text length for completion while typing, in characters: parsing a longer text would delay each keystroke. */
const MAX_AUTOMATIC_LENGTH = 80_000;

/**
 * Where completion opens by itself: within a word, and where a value, an item or a name begins, also a table or a parameter
 * of SQL; not after each space.
 */
const OPENING = /(?:[\w"'.[,]|[:\-{,[]\s|\$\{\{|\s:|[=<>(]:|\b(?:from|join|into|update)\s)$/i;

export interface CompletionSettings extends SqlCompletionSettings {
  format: () => Format;
  /** The outputs of the last test. */
  tested: () => CompletionData["tested"];
  /** The project whose connections are completed; undefined for a user with one project. */
  project: () => string | undefined;
}

interface Option extends Completion {
  /** Whether the text already contains what the option would insert. */
  isWritten(state: EditorState): boolean;
}

export function schemaCompletion(settings: CompletionSettings): Extension {
  return [
    // Must come before the completion's own keys, which have the highest precedence too.
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

/** After a word that is typed in full, Enter adds a line: accepting the option would change nothing. */
function newlineAfterWord(view: EditorView): boolean {
  const selected = selectedCompletion(view.state) as Option | null;
  if (selected === null || !selected.isWritten(view.state)) return false;
  closeCompletion(view);
  return insertNewlineAndIndent(view);
}

async function loadData({ steps, project, tested }: CompletionSettings): Promise<CompletionData | undefined> {
  const data = await loadCompletionData(project());
  const outputs = steps();
  const values = tested();
  return data && { ...data, ...(outputs && { steps: outputs }), ...(values && { tested: values }) };
}

async function complete(
  { state, pos, explicit }: CompletionContext,
  settings: CompletionSettings,
): Promise<CompletionResult | null> {
  const line = state.doc.lineAt(pos);
  const before = line.text.slice(0, pos - line.from);
  if (!explicit && (state.doc.length > MAX_AUTOMATIC_LENGTH || !OPENING.test(before))) return null;
  const { sqlContextAt } = await import("./sql-context.ts");
  const text = state.doc.toString();
  const sql = sqlContextAt(text, pos, settings.format());
  if (sql !== undefined) return toResult(await completeSql(sql, pos, explicit, settings), pos, /^\w*$/);
  const [{ suggest }, data] = await Promise.all([import("./suggestions.ts"), loadData(settings)]);
  if (data === undefined) return null;
  return toResult(suggest(text, pos, settings.format(), data, explicit), pos, /^[\w./-]*$/);
}

/** @param validFor the typed text for which the list stays valid */
const toResult = (found: Suggestions | undefined, pos: number, validFor: RegExp): CompletionResult | null =>
  found === undefined || found.list.length === 0
    ? null
    : {
        from: found.from,
        options: found.list.map((suggestion) => createOption(suggestion, found, pos)),
        validFor,
      };

function createOption(suggestion: Suggestion, { from, replace }: Suggestions, pos: number): Option {
  const { label, detail, info, boost, kind, reopenCompletion } = suggestion;
  const insert = suggestion.apply ?? label;
  const afterCursor = replace.to - pos;
  return {
    label,
    type: kind,
    ...(detail !== undefined && { detail }),
    ...(boost !== undefined && { boost }),
    ...(info !== undefined && { info: () => paragraphs(info) }),
    isWritten: (state) => state.sliceDoc(replace.from, state.selection.main.head + afterCursor) === insert,
    apply: (view, _completion, start, end) => {
      const at = start - (from - replace.from);
      view.dispatch({
        changes: { from: at, to: end + afterCursor, insert },
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
  if (doc.length > MAX_AUTOMATIC_LENGTH) return null;
  const [{ hoverInfoAt }, data] = await Promise.all([import("./hover-info.ts"), loadData(settings)]);
  const info = data && hoverInfoAt(doc.toString(), pos, data.schema, data.tested);
  if (info === undefined) return null;
  return { pos: info.from, end: info.to, create: () => ({ dom: paragraphs(info.text) }) };
}

function paragraphs(text: string): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "cm-help";
  for (const line of text.split("\n")) dom.appendChild(document.createElement("p")).textContent = line;
  return dom;
}
