/** Fixes of single values. */
import type { FixRule } from "./index.ts";
import { valueAt } from "./schema-fixes.ts";

/** Replaces a misspelt word by the allowed one. */
export const nearWordFix: FixRule = ({ path, did_you_mean: near, allowed, fix, code }, { written }) => {
  if (near === undefined || path.length === 0) return undefined;
  if (code === "unknown_key" || code === "unused_parameter") {
    const target = [...path.slice(0, -1), near];
    if (valueAt(written, path) === undefined || valueAt(written, target) !== undefined) return undefined;
    return { fix: `Write ${near}.`, patch: [{ op: "move", from: path, path: target }] };
  }
  const value = valueAt(written, path);
  // Other texts only contain the word, such as a query.
  if (typeof value !== "string" || /\s/.test(value) || (allowed !== undefined && !allowed.includes(near)))
    return undefined;
  return { fix: fix ?? `Write ${near}.`, patch: [{ op: "replace", path, value: near }] };
};

/** Removes an assignee who is in the list already. */
export const duplicateAssigneeFix: FixRule = ({ path, code }) =>
  code === "duplicate_assignee" && typeof path.at(-1) === "number"
    ? { patch: [{ op: "remove", path }] }
    : undefined;

/** Moves a condition on the item from `if`, which is evaluated once, to a filter of the list. */
export const fanOutConditionFix: FixRule = ({ path, code, subject }, { written }) => {
  const [first, index, field] = path;
  if (code !== "unknown_name" || subject !== "item" || first !== "steps" || field !== "if") return undefined;
  const list = bare(valueAt(written, ["steps", index!, "for_each"]));
  const condition = bare(valueAt(written, path));
  if (list === undefined || condition === undefined || /\bindex\b/.test(condition)) return undefined;
  const filtered = `${/^[\w.[\]]+$/.test(list) ? list : `(${list})`}.filter(item, ${condition})`;
  return {
    fix: `Write for_each: ${filtered}, without if, which is evaluated once for all items.`,
    patch: [
      { op: "replace", path: ["steps", index!, "for_each"], value: filtered },
      { op: "remove", path },
    ],
  };
};

/** Returns the source of a bare expression, or of one whole `${{ }}`. */
function bare(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const source = /^\s*\$\{\{(.*)\}\}\s*$/s.exec(value)?.[1] ?? value;
  return source.includes("${{") ? undefined : source.trim();
}

/** Renames a value with a name that every step has, unless expressions read that name. */
export const reservedNameFix: FixRule = ({ path, code }, { written, steps }) => {
  const [, index] = path;
  const name = String(path.at(-1));
  const step = typeof index === "number" ? steps[index] : undefined;
  if (code !== "reserved_name" || step === undefined) return undefined;
  if (JSON.stringify(written).includes(`steps.${step.id}.${name}`)) return undefined;
  const target = [...path.slice(0, -1), `${name}_value`];
  if (valueAt(written, target) !== undefined) return undefined;
  return { fix: `Rename it to ${name}_value.`, patch: [{ op: "move", from: path, path: target }] };
};
