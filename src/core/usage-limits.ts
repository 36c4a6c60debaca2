/**
 * Usage limits. Those of `limits.per_key` apply to a user, with all their keys and sessions together, or to a key of the
 * operator, with all keys that it was rotated to. Those of a project apply to all runs of the project together.
 */
import { COMMAND_LINE, OPERATOR } from "../../schemas/actor.ts";
import { type Config, PER_KEY_LIMITS } from "../../schemas/config.ts";
import { DAY, HOUR, iso } from "./clock.ts";

/** Resources whose use is counted, in windows that begin on the full hour or at midnight UTC, on every process alike. */
export type MeteredResource = "runs" | "model_tokens" | "rows" | MailResource;

/** Mails, and those of them to each single address (mail-limits.ts). */
export type MailResource = "mails" | "mails_to_address";

type ConfiguredLimits = Config["limits"]["per_key"];
type PerKeyLimit = keyof ConfiguredLimits;

/** The limits in force for each user, and each key of the operator. A limit that is missing does not exist. */
export type PerKeyLimits = Readonly<Partial<Record<PerKeyLimit, number>>>;

/**
 * The limits of an installation that was created with a release that has them, unless its configuration says otherwise.
 * They stop a loop, and no person reaches them: the largest fan-out of child runs fits into an hour, and one owner can hold
 * a fifth of all unfinished runs, and store as much as 10,000 runs with a megabyte each. Nobody reads 200 mails of one sender in an hour.
 * Rows and tokens have none, because only the operator knows what they cost.
 */
export const DEFAULT_PER_KEY_LIMITS = {
  runs_per_hour: 100_000,
  unfinished_runs: 20_000,
  stored_bytes: 10 * 1024 ** 3,
  mails_per_hour: 2_000,
  mails_to_address_per_hour: 200,
} as const satisfies PerKeyLimits;

/** A limit, and where it comes from. */
export interface LimitInForce {
  limit: PerKeyLimit;
  /** Null when there is no limit. */
  max: number | null;
  source: "configuration" | "default";
}

/**
 * The limits in force: what the configuration says, else the defaults.
 * @param hasDefaults whether the installation has the defaults; older ones keep what they had
 */
export const limitsInForce = (configured: ConfiguredLimits, hasDefaults: boolean): LimitInForce[] =>
  PER_KEY_LIMITS.map((limit) => {
    const max = configured[limit];
    if (max !== undefined) return { limit, max, source: "configuration" };
    const defaults: PerKeyLimits = hasDefaults ? DEFAULT_PER_KEY_LIMITS : {};
    return { limit, max: defaults[limit] ?? null, source: "default" };
  });

/** As `limitsInForce`, by name. */
export const perKeyLimits = (configured: ConfiguredLimits, hasDefaults: boolean): PerKeyLimits =>
  Object.fromEntries(
    limitsInForce(configured, hasDefaults).flatMap(({ limit, max }) => (max === null ? [] : [[limit, max]])),
  );

export interface UsageLimit {
  limit: PerKeyLimit;
  max: number;
  windowMs: number;
  /** The resource's name in a message: "20 runs of this hour". */
  label: string;
  windowName: string;
}

const WINDOWS = {
  runs: { limit: "runs_per_hour", windowMs: HOUR, label: "runs", windowName: "hour" },
  model_tokens: { limit: "model_tokens_per_day", windowMs: DAY, label: "model tokens", windowName: "day" },
  rows: { limit: "rows_per_day", windowMs: DAY, label: "rows", windowName: "day" },
  mails: { limit: "mails_per_hour", windowMs: HOUR, label: "mails", windowName: "hour" },
  mails_to_address: {
    limit: "mails_to_address_per_hour",
    windowMs: HOUR,
    label: "mails to one address",
    windowName: "hour",
  },
} as const satisfies Record<MeteredResource, Omit<UsageLimit, "max">>;

/** Those that are counted under the name of a holder. Mails to an address are counted for each address. */
export const METERED_RESOURCES = (Object.keys(WINDOWS) as MeteredResource[]).filter(
  (kind) => kind !== "mails_to_address",
);

/** Returns the limit of a resource, or undefined when it is not limited; its use is not counted then. */
export function usageLimitFor(perKey: PerKeyLimits, kind: MeteredResource): UsageLimit | undefined {
  const max = perKey[WINDOWS[kind].limit];
  return max === undefined ? undefined : { ...WINDOWS[kind], max };
}

/** The end of the window that contains `now`, in milliseconds since 1970. */
export const windowEnd = ({ windowMs }: Pick<UsageLimit, "windowMs">, now: number): number =>
  (Math.floor(now / windowMs) + 1) * windowMs;

/** Whether the operator, and no user, owns a key. */
const isOperatorKey = ({ owner }: { owner: string }): boolean => owner === OPERATOR;

/** The subject whose use is counted together: for users not the key, since they can create more keys. */
export const usageSubjectOf = (key: { owner: string; lineage: string }): string =>
  isOperatorKey(key) ? key.lineage : key.owner;

/** The command line has no limits of its own: it has access to the state directory, and so could change every limit. */
const isUsageLimited = ({ lineage }: { lineage: string }): boolean => lineage !== COMMAND_LINE;

/** Names an owner for people who read the message but did not start the run. */
const ownerLabel = (actor: { owner: string; keyName: string }): string =>
  isOperatorKey(actor) ? keyLabel(actor) : `${actor.owner} (all their keys and sessions together)`;

const keyLabel = ({ keyName, owner }: { owner: string; keyName: string }): string =>
  `"${keyName}" of ${owner}`;

/** Somebody whose use is counted together and limited: the owner of runs, or a project. */
export interface UsageHolder {
  /** Under which name the use is counted. */
  subject: string;
  limits: PerKeyLimits;
  /** Names the holder in a message. */
  label: string;
  /** The id of the project, if it is one. */
  project?: string;
  /** Who causes the use, where several use the limit together: an owner in a project, a key of a person. Mails are shared among them. */
  sharer?: { subject: string; label: string };
  /** Names one of its limits in a message. */
  settingName(limit: PerKeyLimit): string;
}

/** The name under which the use of a project is counted. It is neither an e-mail address nor the lineage of a key. */
export const PROJECT_SUBJECT = "project:";

export interface ProjectLimitsReader {
  /** Reads the limits of a project; null when it has none. */
  projectLimits(project: string): Promise<PerKeyLimits | null>;
}

/**
 * Whose limits apply to what a caller does in a project.
 * @param tx inside a transaction, its reader: with another connection it would wait for other transactions, which may wait for one too
 */
export type UsageHolders = (
  caller: { owner: string; keyName: string; lineage: string },
  project: string,
  tx?: ProjectLimitsReader,
) => Promise<readonly UsageHolder[]>;

/**
 * The holders whose limits apply: the owner, unless it is the command line, and the project, if it has limits.
 * @param read outside of transactions
 */
export const usageHolders =
  (perKey: PerKeyLimits, read: ProjectLimitsReader): UsageHolders =>
  async (caller, project, tx = read) => {
    const limits = await tx.projectLimits(project);
    return [
      ...(isUsageLimited(caller) ? [ownerHolder(caller, perKey)] : []),
      ...(limits === null ? [] : [projectHolder(project, limits, caller)]),
    ];
  };

const ownerHolder = (
  caller: { owner: string; keyName: string; lineage: string },
  limits: PerKeyLimits,
): UsageHolder => ({
  subject: usageSubjectOf(caller),
  limits,
  label: ownerLabel(caller),
  settingName: (limit) => `limits.per_key.${limit}`,
  ...(!isOperatorKey(caller) && { sharer: { subject: caller.lineage, label: keyLabel(caller) } }),
});

const projectHolder = (
  project: string,
  limits: PerKeyLimits,
  caller: { owner: string; keyName: string; lineage: string },
): UsageHolder => ({
  subject: `${PROJECT_SUBJECT}${project}`,
  limits,
  label: `the project "${project}"`,
  project,
  sharer: { subject: usageSubjectOf(caller), label: ownerLabel(caller) },
  settingName: (limit) => `${limit} of the project`,
});

export function limitExceededMessage(
  { label: holder, settingName }: UsageHolder,
  { limit, max, label, windowName }: UsageLimit,
  endsAt: number,
): string {
  const count = max.toLocaleString("en");
  return (
    `${upperFirst(holder)} has used all of its ${count} ${label} of this ${windowName} (${settingName(limit)}); ` +
    `more are available from ${iso(endsAt)}.`
  );
}

/** Only a project's label begins with a word; an address is written as it is. */
const upperFirst = (label: string): string => (label.startsWith("the ") ? `T${label.slice(1)}` : label);

/** From this limit of unfinished runs on, a part is kept for runs that other runs start. */
const MIN_WITH_RESERVE = 100;

/**
 * The maximum of unfinished runs that a run may start below. Runs that other runs start may exceed a larger limit by a
 * tenth: otherwise new runs could take every place that the runs before them need to end.
 */
export const maxUnfinished = (limit: number, startedByRun: boolean): number =>
  startedByRun && limit >= MIN_WITH_RESERVE ? limit + Math.floor(limit / 10) : limit;
