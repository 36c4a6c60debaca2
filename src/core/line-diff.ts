/** Compares texts by line, for people who read what changed. */
import { structuredPatch } from "diff";

/** Unchanged lines that are shown around a change. */
const CONTEXT_LINES = 3;

/** Maximum number of changed lines; beyond it, the search for common lines would take seconds. */
const MAX_EDITS = 2_000;

export interface DiffLine {
  kind: "same" | "added" | "removed" | "gap";
  text: string;
}

const KINDS: Readonly<Record<string, DiffLine["kind"]>> = { " ": "same", "+": "added", "-": "removed" };
const GAP: DiffLine = { kind: "gap", text: "…" };

/**
 * Compares two texts by line, as `diff -u` does.
 * @returns the changed lines with three lines of context, and a gap between distant changes; empty for equal texts. Texts
 *   with more than 2,000 changed lines are returned as removed and added as a whole.
 */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, current] = [withFinalNewline(before), withFinalNewline(after)];
  const patch = structuredPatch("", "", old, current, "", "", {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
  });
  if (patch === undefined) return [...toLines("removed", old), ...toLines("added", current)];
  return patch.hunks.flatMap(({ lines }, index) => {
    const shown = lines.map((line): DiffLine => ({ kind: KINDS[line[0]!]!, text: line.slice(1) }));
    return index === 0 ? shown : [GAP].concat(shown);
  });
}

/** A missing newline at the end is no difference. */
const withFinalNewline = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

const toLines = (kind: DiffLine["kind"], text: string): DiffLine[] =>
  text === ""
    ? []
    : text
        .slice(0, -1)
        .split("\n")
        .map((line) => ({ kind, text: line }));
