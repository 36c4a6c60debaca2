/**
 * The usage limits of `limits.per_key`. A limit applies to a user, with all their keys and sessions together, or to a key of
 * the operator, with all keys that it was rotated to.
 */
import { COMMAND_LINE, OPERATOR } from "../../schemas/actor.ts";
import type { Config } from "../../schemas/config.ts";
import { DAY, HOUR, iso } from "./clock.ts";

/** Resources whose use is counted, in windows that begin on the full hour or at midnight UTC, on every process alike. */
export type MeteredResource = "runs" | "model_tokens" | "rows";

export type PerKeyLimits = Config["limits"]["per_key"];

export interface UsageLimit {
  limit: keyof PerKeyLimits;
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
} as const satisfies Record<MeteredResource, Omit<UsageLimit, "max">>;

export const METERED_RESOURCES = Object.keys(WINDOWS) as MeteredResource[];

/** Returns the limit of a resource, or undefined when it is not limited; its use is not counted then. */
export function usageLimitFor(perKey: PerKeyLimits, kind: MeteredResource): UsageLimit | undefined {
  const max = perKey[WINDOWS[kind].limit];
  return max === undefined ? undefined : { ...WINDOWS[kind], max };
}

/** The end of the window that contains `now`, in milliseconds since 1970. */
export const windowEnd = ({ windowMs }: Pick<UsageLimit, "windowMs">, now: number): number =>
  (Math.floor(now / windowMs) + 1) * windowMs;

/** Whether the operator, and no user, owns a key. */
export const isOperatorKey = ({ owner }: { owner: string }): boolean => owner === OPERATOR;

/** The subject whose use is counted together: for users not the key, since they can create more keys. */
export const usageSubjectOf = (key: { owner: string; lineage: string }): string =>
  isOperatorKey(key) ? key.lineage : key.owner;

/** The command line is not limited: it has access to the state directory, and so could change every limit. */
export const isUsageLimited = ({ lineage }: { lineage: string }): boolean => lineage !== COMMAND_LINE;

export function limitExceededMessage(
  { limit, max, label, windowName }: UsageLimit,
  subject: string,
  endsAt: number,
): string {
  const count = max.toLocaleString("en");
  return (
    `${subject} has used all of its ${count} ${label} of this ${windowName} (limits.per_key.${limit}); ` +
    `more are available from ${iso(endsAt)}.`
  );
}
