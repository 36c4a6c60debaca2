/** How audit entries record changes of subscriptions: as flat fields, which people read in the log, too. */
import type { AuditDetails } from "./account-ports.ts";
import type { SubscriptionRecord } from "./subscription-ports.ts";
import { CHANGE_FIELD, revertIn } from "./workflow-change-details.ts";
import type { Change, RevertRecord, SubscriptionFacts } from "./workflow-change-ports.ts";

/** The fields of the details, by fact. */
const FIELDS = {
  name: "name",
  url: "url",
  urlSecret: "url_secret",
  events: "events",
  workflows: "workflows",
  tags: "tags",
  includeValues: "include_values",
  generation: "generation",
  paused: "paused",
} as const satisfies Readonly<Record<keyof SubscriptionFacts, string>>;

export const SUBSCRIPTION_FACTS = Object.keys(FIELDS) as (keyof SubscriptionFacts)[];

const BEFORE = "_before";
/** Written for null, because details have none. Facts that can be null are no booleans. */
const NONE = false;
const CAN_BE_NULL: ReadonlySet<keyof SubscriptionFacts> = new Set(["url", "urlSecret", "workflows", "tags"]);

const factsOf = (record: SubscriptionRecord): SubscriptionFacts => ({
  name: record.name,
  url: record.url,
  urlSecret: record.urlSecret,
  events: record.events,
  workflows: record.workflows,
  tags: record.tags,
  includeValues: record.includeValues,
  generation: record.generation,
  paused: record.pausedAt !== null,
});

const fieldsOf = (facts: Partial<SubscriptionFacts>, suffix: string) =>
  SUBSCRIPTION_FACTS.flatMap((name) => {
    const value = facts[name];
    return value === undefined ? [] : [[`${FIELDS[name]}${suffix}`, value ?? NONE] as const];
  });

const differs = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);

/** The details of the entry of a change. @param before null for a new one @param after null for a deleted one */
export function detailsOfSubscriptionChange(
  before: SubscriptionRecord | null,
  after: SubscriptionRecord | null,
): AuditDetails {
  const [was, is] = [before && factsOf(before), after && factsOf(after)];
  const names = SUBSCRIPTION_FACTS.filter((name) => differs(was?.[name], is?.[name]));
  const pick = (facts: SubscriptionFacts | null): Partial<SubscriptionFacts> =>
    facts === null ? {} : Object.fromEntries(names.map((name) => [name, facts[name]]));
  return {
    [CHANGE_FIELD]: before === null ? "created" : after === null ? "deleted" : "changed",
    ...Object.fromEntries([...fieldsOf(pick(was), BEFORE), ...fieldsOf(pick(is), "")]),
  };
}

/** The change or the revert that details record; both are null for details of an older release. */
export function subscriptionChangeIn(details: AuditDetails | null): {
  change: Change<SubscriptionFacts> | null;
  revert: RevertRecord | null;
} {
  const kind = details?.[CHANGE_FIELD];
  if (details === null || kind === undefined) return { change: null, revert: null };
  const revert = revertIn(details);
  if (revert !== null) return { change: null, revert };
  const facts = (suffix: string): Partial<SubscriptionFacts> =>
    Object.fromEntries(
      SUBSCRIPTION_FACTS.flatMap((name) => {
        const value = details[`${FIELDS[name]}${suffix}`];
        return value === undefined ? [] : [[name, value === NONE && CAN_BE_NULL.has(name) ? null : value]];
      }),
    );
  return { change: { before: kind === "created" ? null : facts(BEFORE), after: facts("") }, revert: null };
}
