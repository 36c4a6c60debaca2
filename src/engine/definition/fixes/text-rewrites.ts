/** Turns rewrites of expressions and texts into patches. All rewrites of one text make one patch, so none undoes another. */
import type { TextRewrite } from "../../../core/connections.ts";
import type { PatchOperation } from "../../../core/json-patch.ts";
import type { LocatedIssue } from "../check/check-report.ts";
import { splitTemplate } from "../expressions/template.ts";
import type { Fields } from "./intended-fields.ts";
import { valueAt } from "./schema-fixes.ts";

/** Returns the patch of each issue whose text is rewritten. */
export function rewriteTexts(
  issues: readonly LocatedIssue[],
  document: Fields,
): ReadonlyMap<LocatedIssue, readonly PatchOperation[]> {
  const byPath = new Map<string, LocatedIssue[]>();
  for (const issue of issues) {
    if (issue.rewrite === undefined) continue;
    const key = JSON.stringify(issue.path.map(String));
    byPath.set(key, [...(byPath.get(key) ?? []), issue]);
  }
  const patches = new Map<LocatedIssue, readonly PatchOperation[]>();
  for (const group of byPath.values()) {
    const { path } = group[0]!;
    const text = valueAt(document, path);
    if (typeof text !== "string") continue;
    const value = rewriteText(
      text,
      group.map(({ rewrite }) => rewrite!),
    );
    if (value === text) continue;
    for (const issue of group) patches.set(issue, [{ op: "replace", path, value }]);
  }
  return patches;
}

/** Rewrites a text that is the source itself, or a template with expressions that are. */
function rewriteText(text: string, rewrites: readonly TextRewrite[]): string {
  const whole = rewrites.filter(({ source }) => source === text);
  if (whole.length > 0) return applyEdits(text, whole);
  const bare = rewrites.filter(({ source }) => source === text.trim());
  if (bare.length > 0) return applyEdits(text.trim(), bare);
  const { parts, unclosedAt } = splitTemplate(text);
  if (unclosedAt !== undefined) return text;
  return parts
    .map((part) => {
      if ("text" in part) return part.text.replaceAll("${{", "$${{");
      const own = rewrites.filter(({ source }) => source === part.source);
      return `\${{ ${applyEdits(part.source, own)} }}`;
    })
    .join("");
}

/** Applies the edits of a text from the end to the start, and leaves out those that overlap another. */
export function applyEdits(source: string, rewrites: readonly TextRewrite[]): string {
  const edits = rewrites
    .flatMap(({ edits: own }) => own)
    .toSorted((a, b) => b.start - a.start || b.end - a.end);
  let result = source;
  let before = source.length;
  let last = "";
  for (const { start, end, text } of edits) {
    const key = `${start} ${end} ${text}`;
    if (end > before || key === last) continue;
    last = key;
    before = start;
    result = result.slice(0, start) + text + result.slice(end);
  }
  return result;
}
