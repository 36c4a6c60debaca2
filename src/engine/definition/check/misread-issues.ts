/** Warns of YAML values that may have been meant as text: the zero of `01067`, or the version `3.10`. */
import { formatPath } from "../../../core/issues.ts";
import { listsNoTextAt } from "../../../core/json-schema/index.ts";
import type { PatchOperation } from "../../../core/json-patch.ts";
import { isWarning, type LocatedIssue, type Report } from "./check-report.ts";
import type { MisreadScalar } from "./yaml-scalars.ts";

/** Maximum number of checks with text in the places of these values: the time of a check counts that many times. */
const MAX_ROUNDS = 3;

/**
 * Adds the warnings to the issues of a definition. A place that takes no text gets none. Where only text is right, the fix of the
 * error is the text as it is written.
 * @param value the definition
 * @param check checks a definition in which all of them are text
 */
export async function withMisread(
  issues: readonly LocatedIssue[],
  misread: readonly MisreadScalar[],
  value: unknown,
  check: (quoted: unknown) => Promise<Pick<Report, "errors">>,
): Promise<LocatedIssue[]> {
  if (misread.length === 0) return [...issues];
  const asText = await acceptedAsText(misread, value, check);
  const corrected = new Set<string>();
  const found = issues.map((issue) => {
    const scalar = isWarning(issue) ? undefined : asText.get(formatPath(issue.path));
    if (scalar === undefined) return issue;
    corrected.add(formatPath(issue.path));
    const { patch: _, ...others } = issue;
    return { ...others, fix: `Write ${JSON.stringify(scalar.text)} in quotes.`, ...patchOf(scalar) };
  });
  const warnings = [...asText]
    .filter(([path]) => !corrected.has(path))
    .map(([, scalar]): LocatedIssue => {
      const { text: _, offset: __, isShared: ___, ...issue } = scalar;
      return Object.assign(issue, { severity: "warning" as const, ...patchOf(scalar) });
    });
  return [...found, ...warnings];
}

/** Returns those of the values that may be text, by path. */
async function acceptedAsText(
  misread: readonly MisreadScalar[],
  value: unknown,
  check: (quoted: unknown) => Promise<Pick<Report, "errors">>,
): Promise<Map<string, MisreadScalar>> {
  const accepted = new Map(
    misread
      .filter(({ path }) => !isListedNumber(value, path))
      .map((scalar) => [formatPath(scalar.path), scalar]),
  );
  // A refused value may hide others: a schema with an issue is not used.
  for (let round = 0; round < MAX_ROUNDS && accepted.size > 0; round += 1) {
    const quoted = structuredClone(value);
    for (const { path, text } of accepted.values()) setAt(quoted, path, text);
    const refused = (await check(quoted)).errors.filter(({ path }) => accepted.delete(path));
    if (refused.length === 0) break;
  }
  return accepted;
}

/** The places of JSON Schemas in a definition; * is any key or index. */
const SCHEMA_PLACES: readonly (readonly PropertyKey[])[] = [
  ["inputs"],
  ["output_schema"],
  ["state", "*"],
  ["triggers", "*", "payload"],
  ["steps", "*", "output_schema"],
  ["steps", "*", "form"],
  ["steps", "*", "event", "schema"],
];

/** Whether a value is an allowed one, or an example, in a schema that accepts no text there: that of an input, for example. */
function isListedNumber(value: unknown, path: readonly PropertyKey[]): boolean {
  const place = SCHEMA_PLACES.find((parts) =>
    parts.every((part, index) => (part === "*" ? index < path.length : part === path[index])),
  );
  if (place === undefined) return false;
  let schema = value;
  for (const part of path.slice(0, place.length))
    schema = (schema as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[part];
  return listsNoTextAt(schema, path.slice(place.length));
}

const patchOf = ({ path, text, isShared }: MisreadScalar): { patch?: PatchOperation[] } =>
  isShared ? {} : { patch: [{ op: "replace", path, value: text }] };

/**
 * Replaces a value inside another one. A path that leads nowhere is left out: a later key of the same name counts. Inherited
 * properties are no part of the value: `__proto__` would lead to the prototype of all objects.
 */
function setAt(value: unknown, path: readonly PropertyKey[], replacement: string): void {
  let parent = value;
  for (const [index, part] of path.entries()) {
    if (typeof parent !== "object" || parent === null || !Object.hasOwn(parent, part)) return;
    const fields = parent as Record<PropertyKey, unknown>;
    if (index === path.length - 1) fields[part] = replacement;
    parent = fields[part];
  }
}
