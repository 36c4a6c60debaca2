/** The shortcuts of the interface, as the help shows them. */

const isApple = /Mac|iP(hone|ad)/.test(navigator.userAgent);

/** The key that browsers use for commands. */
export const MODIFIER = isApple ? "⌘" : "Ctrl";
const ALT = isApple ? "⌥" : "Alt";

/** Chosen in place of a path: the help. */
export const SHORTCUT_HELP = "#shortcuts";

export const SHORTCUTS: readonly { keys: readonly string[]; does: string }[] = [
  { keys: [MODIFIER, "K"], does: "Find a workflow, a run, a page or an action" },
  { keys: ["↑", "↓", "↵"], does: "Move in a list of results, and open one" },
  {
    keys: ["←", "→", "↑", "↓"],
    does: "Move between the steps of a graph; Home and End for the first and the last",
  },
  { keys: ["Shift", ALT, "F"], does: "Format the text in the editor" },
  { keys: [MODIFIER, "Space"], does: "Complete in the editor" },
  { keys: ["Esc"], does: "Close a dialog, or clear a search" },
];
