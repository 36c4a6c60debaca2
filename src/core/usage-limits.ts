/**
 * What `limits.per_key` allows a person, with all their keys and sessions, or a key of the operator, with all that it was
 * rotated to: which windows, and how it is told.
 */
import { COMMAND_LINE, OPERATOR } from "../../schemas/actor.ts";
import type { Config } from "../../schemas/config.ts";
import { DAY, HOUR, iso } from "./clock.ts";

/** What is counted, in windows that begin on the full hour or at midnight, UTC: the same on every copy. */
export type MeteredResource = "runs" | "model_tokens" | "rows";

export type PerKeyLimits = Config["limits"]["per_key"];

/** One limit of the configuration. */
export interface UsageLimit {
  limit: keyof PerKeyLimits;
  max: number;
  /** In milliseconds. */
  windowMs: number;
  /** As it stands in a sentence: 20 `runs` of this hour. */
  label: string;
  windowName: string;
}

const WINDOWS = {
  runs: { limit: "runs_per_hour", windowMs: HOUR, label: "runs", windowName: "hour" },
  model_tokens: { limit: "model_tokens_per_day", windowMs: DAY, label: "model tokens", windowName: "day" },
  rows: { limit: "rows_per_day", windowMs: DAY, label: "rows", windowName: "day" },
} as const satisfies Record<MeteredResource, Omit<UsageLimit, "max">>;

export const METERED_RESOURCES = Object.keys(WINDOWS) as MeteredResource[];

/** What is allowed of a kind; undefined where it is not limited, and then nothing is counted. */
export function usageLimitFor(perKey: PerKeyLimits, kind: MeteredResource): UsageLimit | undefined {
  const max = perKey[WINDOWS[kind].limit];
  return max === undefined ? undefined : { ...WINDOWS[kind], max };
}

/** When the window that `now` is in ends, in milliseconds since 1970. */
export const windowEnd = ({ windowMs }: Pick<UsageLimit, "windowMs">, now: number): number =>
  (Math.floor(now / windowMs) + 1) * windowMs;

/** Whether it is a key that no person owns. */
export const isOperatorKey = ({ owner }: { owner: string }): boolean => owner === OPERATOR;

/** What is counted together: somebody could make themselves as many keys as they like. */
export const usageSubjectOf = (who: { owner: string; lineage: string }): string =>
  isOperatorKey(who) ? who.lineage : who.owner;

/** Who is at the state directory itself could lift every limit, and so has none. */
export const isUsageLimited = ({ lineage }: { lineage: string }): boolean => lineage !== COMMAND_LINE;

/** That somebody has used all of it, and until when. */
export function limitExceededMessage(
  { limit, max, label, windowName }: UsageLimit,
  who: string,
  endsAt: number,
): string {
  const count = max.toLocaleString("en");
  return (
    `${who} has used all of its ${count} ${label} of this ${windowName} (limits.per_key.${limit}); ` +
    `there are more from ${iso(endsAt)} on.`
  );
}
