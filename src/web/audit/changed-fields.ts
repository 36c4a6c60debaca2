/** Splits the details of an audit entry into what a change replaced and the rest. */
import type { AuditEntry } from "../../../schemas/audit.ts";

type Details = NonNullable<AuditEntry["details"]>;

export interface ChangedField {
  /** The name of the field, as people read it. */
  name: string;
  before: string;
  after: string;
}

const BEFORE = "_before";

export const detailText = (value: unknown): string =>
  typeof value === "string" ? value : Array.isArray(value) ? value.join(", ") : JSON.stringify(value);

/** `role: "admin"` and `role_before: "viewer"` are one change of `role`. */
export function splitDetails(details: Details): { changes: ChangedField[]; rest: Details } {
  const names = Object.keys(details).filter((name) => `${name}${BEFORE}` in details);
  const paired = new Set(names.flatMap((name) => [name, `${name}${BEFORE}`]));
  return {
    changes: names.map((name) => ({
      name: name.replaceAll("_", " "),
      before: detailText(details[`${name}${BEFORE}`]),
      after: detailText(details[name]),
    })),
    rest: Object.fromEntries(
      // A list of the names says nothing more than the pairs, where all of them are pairs.
      Object.entries(details).filter(
        ([name, value]) =>
          !paired.has(name) &&
          !(
            name === "changed" &&
            Array.isArray(value) &&
            value.every((field) => names.includes(snake(field)))
          ),
      ),
    ),
  };
}

const snake = (name: unknown): string =>
  String(name).replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The two versions of a workflow that an entry changed from and to; undefined for other entries. */
export function changedVersions({ operation, target, details }: AuditEntry) {
  if (target === null || details === null || !/workflow|revert/.test(operation)) return undefined;
  for (const name of ["version", "published"]) {
    const [from, to] = [details[`${name}${BEFORE}`], details[name]];
    if (Number.isInteger(from) && Number.isInteger(to))
      return { workflowId: target, from: from as number, to: to as number };
  }
  return undefined;
}
