/** What audit entries say, in words: the operation, and what it changed from what to what. */
import type { AuditEntry } from "../../../schemas/audit.ts";

type Details = NonNullable<AuditEntry["details"]>;

/** Turns `invite_user.role_editor` into "Invite user: role editor". */
export function operationLabel(operation: string): string {
  const words = operation.replaceAll("_", " ").replaceAll(".", ": ");
  return capitalize(words).replaceAll(/\bapi\b/gi, "API");
}

/** One field of an entry. */
export interface EntryFact {
  name: string;
  label: string;
  /** Undefined where the entry does not say what it was before. */
  before: string | undefined;
  /** Undefined where it was deleted. */
  after: string | undefined;
}

const BEFORE = "_before";
/** Says whether something was created, changed or deleted, as the operation does. */
const KIND = "change";
/** What a revert of a key's changes has done; the other kinds need no words. */
const REVERTS: Readonly<Record<string, string>> = {
  rewound: "back to what it was",
  removed: "the change of the key is taken back",
};

/** Labels that the name of the field does not say by itself. */
const LABELS: Readonly<Record<string, string>> = {
  published: "Published version",
  paused: "Paused",
  consent: "Allowed as a tool",
  offers: "Offered to",
  url: "URL",
  url_secret: "Secret with the URL",
  include_values: "Sends values",
  generation: "Signing secret number",
  workflow_id: "Workflow",
  run_id: "Run",
  step_id: "Step",
  effects_again: "Effects that may happen again",
  link_sent_to: "Link sent to",
  opened_by: "Link opened",
};

/** The fields of an entry in order, each with what it was before, if the entry says so. */
export function factsOf(details: Details): EntryFact[] {
  const names = new Set(
    Object.keys(details).map((name) => (name.endsWith(BEFORE) ? name.slice(0, -BEFORE.length) : name)),
  );
  const revert = REVERTS[String(details[KIND])];
  return [...names]
    .filter((name) => name !== KIND)
    .map((name): EntryFact => ({
      name,
      label: LABELS[name] ?? capitalize(name.replaceAll("_", " ")),
      before: valueText(name, details[`${name}${BEFORE}`]),
      after: valueText(name, details[name]),
    }))
    .concat(
      revert === undefined ? [] : [{ name: KIND, label: "Reverted", before: undefined, after: revert }],
    );
}

/** "none → 1", or one of both. */
export const changeText = ({ before, after }: EntryFact): string =>
  [before, after].filter((text) => text !== undefined).join(" → ");

/** The entry in one line: "Published version: none → 1". A new thing is not described by what it has not. */
export const summaryOf = (details: Details): string =>
  factsOf(details)
    .filter(
      ({ name, before, after }) => !OPAQUE.has(name) && (before !== undefined || !EMPTY.has(after ?? "")),
    )
    .map((fact) => `${fact.label}: ${changeText(fact)}`)
    .join(" · ");

/** What means nothing to a person, and stands only where the whole entry does. */
const OPAQUE: ReadonlySet<string> = new Set(["digest", "lineage"]);
const EMPTY: ReadonlySet<string> = new Set(["none", "no"]);

/** Fields that are false where there is none. */
const FALSE_IS_NONE: ReadonlySet<string> = new Set(["url", "url_secret", "workflows", "tags"]);

function valueText(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null || value === "" || value === "none" || (value === false && FALSE_IS_NONE.has(name)))
    return "none";
  // An agreement is recorded with all that was agreed to.
  if (name === "consent") return "yes";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(String).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
