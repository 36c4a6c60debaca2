/** How audit entries record changes of workflows: as flat fields, which people read in the log, too. */
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import type { AuditDetails } from "./account-ports.ts";
import type { ExposureConsent } from "./ports.ts";
import type { RevertRecord, WorkflowChange, WorkflowFacts } from "./workflow-change-ports.ts";

/** The field that says that an entry records a change of a workflow, or the end of a revert. */
export const CHANGE_FIELD = "change";
const NONE = "none";
const BEFORE = "_before";

const FACTS = ["version", "archived", "published", "paused", "consent", "project", "offers"] as const;

const isList = (value: unknown): value is readonly string[] => Array.isArray(value);

const encode = (value: WorkflowFacts[keyof WorkflowFacts]): AuditDetails[string] =>
  value === null ? NONE : isList(value) || typeof value !== "object" ? value : JSON.stringify(value);

const decode = (name: keyof WorkflowFacts, value: AuditDetails[string]): unknown => {
  if (name === "project" || name === "offers") return value;
  if (value === NONE) return null;
  return name === "consent" ? (JSON.parse(String(value)) as ExposureConsent) : value;
};

const fieldsOf = (facts: Partial<WorkflowFacts>, suffix: string) =>
  FACTS.flatMap((name) =>
    facts[name] === undefined ? [] : [[`${name}${suffix}`, encode(facts[name])] as const],
  );

/** The details of the entry of a change: each fact that changed, and what it was before. */
export function detailsOfChange({ before, after }: WorkflowChange): AuditDetails {
  return {
    [CHANGE_FIELD]: before === null ? "created" : "changed",
    ...Object.fromEntries([...fieldsOf(before ?? {}, BEFORE), ...fieldsOf(after, "")]),
  };
}

/** The details of the last entry of a revert. */
export const detailsOfRevert = (record: RevertRecord): AuditDetails => ({
  [CHANGE_FIELD]: record.kind,
  from: record.from,
  ...(record.kind === "removed" && {
    to: record.to,
    lineage: record.lineage,
    ...(record.client !== null && { client: record.client }),
  }),
});

/** The revert that details record; null for details of other entries. */
export function revertIn(details: AuditDetails): RevertRecord | null {
  const { [CHANGE_FIELD]: kind, from, to, lineage, client = null } = details;
  if (kind === "rewound") return { kind, from } as RevertRecord;
  return kind === "removed" ? ({ kind, from, to, lineage, client } as RevertRecord) : null;
}

/** The change or the revert that details record; both are null for details of other entries. */
export function changeIn(details: AuditDetails | null): {
  change: WorkflowChange | null;
  revert: RevertRecord | null;
} {
  const kind = details?.[CHANGE_FIELD];
  if (details === null || kind === undefined) return { change: null, revert: null };
  const revert = revertIn(details);
  if (revert !== null) return { change: null, revert };
  const facts = (suffix: string): Partial<WorkflowFacts> =>
    Object.fromEntries(
      FACTS.flatMap((name) => {
        const value = details[`${name}${suffix}`];
        return value === undefined ? [] : [[name, decode(name, value)] as const];
      }),
    );
  return { change: { before: kind === "created" ? null : facts(BEFORE), after: facts("") }, revert: null };
}

type Standing = Pick<WorkflowWithDefinition, "version" | "status" | "published_version">;

const factsOf = ({ version, status, published_version: published }: Standing) => ({
  version,
  archived: status === "archived",
  published,
});

/** The change of a workflow: the facts that differ. @param before null for a new workflow */
export function changeOf(before: Standing | null, after: Standing): WorkflowChange {
  if (before === null) return { before: null, after: factsOf(after) };
  const [was, is] = [factsOf(before), factsOf(after)];
  const changed = (Object.keys(is) as (keyof typeof is)[]).filter((name) => was[name] !== is[name]);
  const pick = (facts: typeof is): Partial<WorkflowFacts> =>
    Object.fromEntries(changed.map((name) => [name, facts[name]]));
  return { before: pick(was), after: pick(is) };
}
