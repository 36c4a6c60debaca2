/** Plans how the changes of a key are taken out of subscriptions. */
import { recordedOperation } from "../../src/core/recorded-operations.ts";
import { SUBSCRIPTION_FACTS } from "../../src/core/subscription-change-details.ts";
import type { SubscriptionRecord } from "../../src/core/subscription-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import type {
  Change,
  RevertRecord,
  SubscriptionChangeEntry,
  SubscriptionFacts,
} from "../../src/core/workflow-change-ports.ts";
import { pauseOf } from "../subscriptions/save-subscription.ts";
import { targetIssues } from "../subscriptions/target-issues.ts";
import { isOf, type KeyHistory, sortHistory, type Subject, valueBefore } from "./history.ts";
import { type Obstacle, recordOf } from "./plan-revert.ts";

/** A change of a subscription, of which an older release did not record from what to what. */
interface KnownSubscriptionChange extends SubscriptionChangeEntry {
  change: Change<SubscriptionFacts>;
  isUnrecorded: boolean;
}

/** What a revert of one subscription does. */
export interface SubscriptionPlan {
  /** Deleted because the key created it. */
  isCreation: boolean;
  given: Partial<SubscriptionRecord>;
  effects: string[];
  record: RevertRecord;
}

/** What the records tell of a subscription that a key changed. */
export interface SubscriptionHistory extends KeyHistory<KnownSubscriptionChange> {
  /** The entries of the key, as the report lists them: its changes, and those that showed it the signing secret. */
  listed: SubscriptionChangeEntry[];
  /** Whether the key knows the signing secret of now. */
  knowsSecret: boolean;
}

const ROTATION = "rotate_subscription_secret";
const SHOWS_SECRET: ReadonlySet<string> = new Set(["create_subscription", ROTATION]);

/**
 * Sorts out the entries of a subscription, oldest first. A replaced secret is no change that a revert takes out: what the key
 * has seen it knows, until somebody replaces it again.
 */
export function readSubscriptionHistory(
  subject: Subject,
  entries: readonly SubscriptionChangeEntry[],
): SubscriptionHistory {
  const changes = entries.filter(({ operation, revert }) => operation !== ROTATION && revert === null);
  const history = sortHistory(subject, changes.map(toKnown), entries);
  const isOfKey = isOf(subject);
  const seen = entries.findLastIndex((entry) => isOfKey(entry) && SHOWS_SECRET.has(entry.operation));
  const knowsSecret = seen >= 0 && !entries.slice(seen + 1).some(({ operation }) => operation === ROTATION);
  const rotations = entries.filter((entry) => isOfKey(entry) && entry.operation === ROTATION);
  return {
    ...history,
    listed: [...history.own, ...(knowsSecret || history.own.length > 0 ? rotations : [])].toSorted(
      (a, b) => a.id - b.id,
    ),
    knowsSecret,
  };
}

const toKnown = (entry: SubscriptionChangeEntry): KnownSubscriptionChange => ({
  ...entry,
  change: entry.change ?? { before: entry.operation === "create_subscription" ? null : {}, after: {} },
  isUnrecorded: entry.change === null && entry.operation === "update_subscription",
});

/**
 * Plans a revert.
 * @param history with at least one own change
 */
export async function planSubscription(
  ctx: ToolContext,
  current: SubscriptionRecord,
  subject: Subject,
  history: SubscriptionHistory,
  { includeLater }: { includeLater: boolean },
): Promise<SubscriptionPlan | Obstacle> {
  const { own, others } = history;
  const isCreation = own[0]!.change.before === null;
  if (others.length > 0 && (!includeLater || isCreation)) return changedSince(others.at(-1)!, isCreation);
  const record = recordOf(subject, history);
  if (isCreation)
    return { isCreation, given: {}, effects: ["it is deleted, because the key created it"], record };
  const facts: Partial<SubscriptionFacts> = {};
  const superseded: string[] = [];
  for (const name of SUBSCRIPTION_FACTS) {
    const before = valueBefore<SubscriptionFacts, KnownSubscriptionChange>(history, name);
    if (before === "superseded")
      superseded.push(`${WORDS[name]} stays, because others changed it afterwards`);
    else if (before !== undefined) Object.assign(facts, { [name]: before.value });
  }
  const { given, effects } = own.some(({ isUnrecorded }) => isUnrecorded)
    ? paused(ctx, current, "an older release did not record what was there before")
    : await givenBy(ctx, current, facts);
  return { isCreation, given, effects: [...effects, ...superseded], record };
}

/** The fields that get other values, in words too. A URL that is not allowed any more is not set: nothing is delivered then. */
async function givenBy(
  ctx: ToolContext,
  current: SubscriptionRecord,
  { paused: wasPaused, ...facts }: Partial<SubscriptionFacts>,
): Promise<Pick<SubscriptionPlan, "given" | "effects">> {
  const pause = pauseOf(current, wasPaused, ctx);
  const changed = (Object.keys(facts) as (keyof typeof facts)[]).filter(
    (name) => JSON.stringify(facts[name]) !== JSON.stringify(current[name]),
  );
  const after = { ...current, ...facts };
  if (changed.includes("url") || changed.includes("urlSecret")) {
    const [issue] = await targetIssues(ctx, current.project, after);
    if (issue !== undefined)
      return paused(ctx, current, `where it delivered to before is not allowed now: ${issue.message}`);
  }
  return {
    given: { ...Object.fromEntries(changed.map((name) => [name, facts[name]])), ...pause },
    effects: [
      ...changed.map((name) => effectOf(name, after)),
      ...(Object.keys(pause).length === 0 ? [] : [wasPaused ? "it is paused again" : "it is resumed"]),
    ],
  };
}

const paused = (ctx: ToolContext, current: SubscriptionRecord, why: string) => ({
  given: pauseOf(current, true, ctx),
  effects: current.pausedAt === null ? [`it is paused, because ${why}`] : [],
});

const WORDS: Readonly<Record<keyof SubscriptionFacts, string>> = {
  name: "its name",
  url: "the URL that it delivers to",
  urlSecret: "the secret with the URL that it delivers to",
  events: "which events it delivers",
  workflows: "which workflows it is about",
  tags: "which tags it is about",
  includeValues: "whether it delivers values of runs",
  generation: "its signing secret",
  paused: "whether it is paused",
};

function effectOf(
  name: keyof SubscriptionFacts,
  { url, urlSecret, includeValues }: SubscriptionRecord,
): string {
  if (name === "includeValues")
    return includeValues ? "it delivers values of runs again" : "it delivers no values of runs any more";
  if (name === "url" && url !== null) return `it delivers to ${url} again`;
  if (name === "urlSecret" && urlSecret !== null)
    return `it delivers to the URL in the secret ${urlSecret} again`;
  return `${WORDS[name]} is as before`;
}

const changedSince = ({ owner, keyName }: KnownSubscriptionChange, isCreation: boolean): Obstacle => {
  const who = keyName === null ? owner : `${owner} (${keyName})`;
  return {
    code: "changed_since",
    message: isCreation
      ? `${who} changed it after the key created it. If nobody needs it, delete it.`
      : `${who} changed it after the key. With include_later, only the key's changes are taken out.`,
  };
};

/** What stays in force of a subscription, after the revert of what is planned. */
export function remainsOf(
  current: SubscriptionRecord | undefined,
  { own, knowsSecret }: SubscriptionHistory,
  plan: SubscriptionPlan | Readonly<{ code: string }> | undefined,
): string[] {
  if (current === undefined)
    return own.flatMap(({ operation }) =>
      operation === "delete_subscription" ? [recordedOperation(operation).remains] : [],
    );
  if (plan !== undefined && "isCreation" in plan && plan.isCreation) return [];
  const isSkipped = plan !== undefined && "code" in plan;
  return [
    ...(isSkipped ? [recordedOperation("update_subscription").remains] : []),
    ...(knowsSecret && current.format === "standard_webhooks" ? [recordedOperation(ROTATION).remains] : []),
  ];
}
