/** How audit entries record what a change replaced: as pairs of flat fields, `role` and `role_before`. */
import type { AuditDetails } from "./account-ports.ts";

/** What the name of a field ends with that says what a value was before. */
const BEFORE = "_before";
const NONE = "none";

/**
 * The details of the fields that differ. Name no field that can hold a secret or a value of a run.
 * @param before what is left out, or null, is recorded as `none`
 */
export function beforeAndAfter(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): AuditDetails {
  const changed = Object.keys(after).filter(
    (name) => JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null),
  );
  return Object.fromEntries(
    changed.flatMap((name) => [
      [`${name}${BEFORE}`, flat(before[name])],
      [name, flat(after[name])],
    ]),
  );
}

function flat(value: unknown): AuditDetails[string] {
  if (value === null || value === undefined) return NONE;
  if (typeof value === "string" || typeof value === "boolean" || Number.isInteger(value))
    return value as AuditDetails[string];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  return JSON.stringify(value);
}
