/** Follows values that may have been meant as text through the fixes of a definition. */
import type { AppliedFix, Issue } from "../../../../schemas/problem.ts";
import { formatPath } from "../../../core/issues.ts";
import { applyJsonPatch, toPointer } from "../../../core/json-patch.ts";
import type { Source } from "./source.ts";
import type { MisreadScalar } from "./yaml-scalars.ts";

interface Followed {
  /** The values with their paths in the fixed definition. */
  misread: MisreadScalar[];
  /** The warnings of values that were removed, or that a fix has copied: their paths are those of the text. */
  lost: Issue[];
}

/**
 * @param source the definition before the fixes
 * @param warnings those of its check
 * @returns a function that follows the values through fixes
 */
export function misreadFollower(
  { value, misread }: Pick<Source, "value" | "misread">,
  warnings: readonly Issue[],
): (applied: readonly AppliedFix[]) => Followed {
  if (misread.length === 0) return () => ({ misread: [], lost: [] });
  // Each value is replaced by an object of its own, which the fixes then move.
  const marked = applyJsonPatch(
    value,
    misread.flatMap(({ path }, index) =>
      exists(value, path)
        ? [{ op: "replace" as const, path: toPointer(path), value: { [MARK]: index } }]
        : [],
    ),
  );
  return (applied) => {
    const places = placesOfMarks(
      applyJsonPatch(
        marked,
        applied.flatMap(({ patch }) => patch),
      ),
    );
    const lostPaths = new Set(
      misread.filter((_, index) => !places.has(index)).map(({ path }) => formatPath(path)),
    );
    return {
      misread: misread.flatMap((scalar, index) => {
        const path = places.get(index);
        return path === undefined ? [] : [{ ...scalar, path }];
      }),
      lost: warnings.filter(({ path, code }) => code === "unquoted" && lostPaths.has(path)).map(withoutPatch),
    };
  };
}

function withoutPatch(issue: Issue): Issue {
  const { patch: _, ...others } = issue;
  return others;
}

/** A key that no definition has: it is no valid Unicode. */
const MARK = "\uD800";

/** A later key of the same name replaces an earlier one, whose path may then lead nowhere. */
function exists(value: unknown, path: readonly PropertyKey[]): boolean {
  let inner = value;
  for (const part of path) {
    if (typeof inner !== "object" || inner === null || !Object.hasOwn(inner, part)) return false;
    inner = (inner as Record<PropertyKey, unknown>)[part];
  }
  return true;
}

function placesOfMarks(document: unknown): Map<number, PropertyKey[]> {
  const places = new Map<number, PropertyKey[]>();
  const queue: { value: unknown; path: PropertyKey[] }[] = [{ value: document, path: [] }];
  // The list grows while it is walked.
  for (const { value, path } of queue) {
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, MARK)) places.set((value as Record<string, number>)[MARK]!, path);
    else
      for (const [key, inner] of Object.entries(value))
        queue.push({ value: inner, path: [...path, Array.isArray(value) ? Number(key) : key] });
  }
  return places;
}
