/** The texts of CodeMirror itself, by the English ones that it looks up: of the search, of folding and of completion. */
import { EditorState } from "@codemirror/state";
import * as texts from "#texts/editor";

export const phrases = EditorState.phrases.of({
  Find: texts.searchFind,
  Replace: texts.searchReplace,
  next: texts.searchNext,
  previous: texts.searchPrevious,
  all: texts.searchAll,
  "match case": texts.searchMatchCase,
  regexp: texts.searchRegexp,
  "by word": texts.searchByWord,
  replace: texts.searchReplaceOne,
  "replace all": texts.searchReplaceAll,
  close: texts.searchClose,
  "current match": texts.currentMatch,
  "on line": texts.onLine,
  "replaced match on line $": texts.replacedMatch,
  "replaced $ matches": texts.replacedMatches,
  "Go to line": texts.goToLine,
  go: texts.goToLineSubmit,
  Completions: texts.completions,
  "Folded lines": texts.foldedLines,
  "Unfolded lines": texts.unfoldedLines,
  to: texts.linesTo,
  "folded code": texts.foldedCode,
  unfold: texts.unfold,
  "Fold line": texts.foldLine,
  "Unfold line": texts.unfoldLine,
  "Selection deleted": texts.selectionDeleted,
});
