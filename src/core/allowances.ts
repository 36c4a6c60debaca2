/**
 * What `limits.per_key` allows a person, with all their keys and sessions, or a key of the operator, with all that it was
 * rotated to: which windows, and how it is told.
 */
import { COMMAND_LINE, OPERATOR } from "../../schemas/actor.ts";
import type { Config } from "../../schemas/config.ts";
import { DAY, HOUR, iso } from "./clock.ts";

/** What is counted, in windows that begin on the full hour or at midnight, UTC: the same on every copy. */
export type Counted = "runs" | "model_tokens" | "rows";

export type PerKey = Config["limits"]["per_key"];

/** One limit of the configuration. */
export interface Allowance {
  limit: keyof PerKey;
  most: number;
  /** In milliseconds. */
  windowMs: number;
  /** As it stands in a sentence: 20 `runs` of this hour. */
  what: string;
  window: string;
}

const WINDOWS = {
  runs: { limit: "runs_per_hour", windowMs: HOUR, what: "runs", window: "hour" },
  model_tokens: { limit: "model_tokens_per_day", windowMs: DAY, what: "model tokens", window: "day" },
  rows: { limit: "rows_per_day", windowMs: DAY, what: "rows", window: "day" },
} as const satisfies Record<Counted, Omit<Allowance, "most">>;

export const COUNTED = Object.keys(WINDOWS) as Counted[];

/** What is allowed of a kind; undefined where it is not limited, and then nothing is counted. */
export function allowanceOf(perKey: PerKey, kind: Counted): Allowance | undefined {
  const most = perKey[WINDOWS[kind].limit];
  return most === undefined ? undefined : { ...WINDOWS[kind], most };
}

/** When the window that `now` is in ends, in milliseconds since 1970. */
export const endOfWindow = ({ windowMs }: Pick<Allowance, "windowMs">, now: number): number =>
  (Math.floor(now / windowMs) + 1) * windowMs;

/** Whether it is a key that no person owns. */
export const isKeyOfNobody = ({ owner }: { owner: string }): boolean => owner === OPERATOR;

/** What is counted together: somebody could make themselves as many keys as they like. */
export const holderOf = (who: { owner: string; lineage: string }): string =>
  isKeyOfNobody(who) ? who.lineage : who.owner;

/** Who is at the state directory itself could lift every limit, and so has none. */
export const isLimited = ({ lineage }: { lineage: string }): boolean => lineage !== COMMAND_LINE;

/** That somebody has used all of it, and until when. */
export function usedUp({ limit, most, what, window }: Allowance, who: string, endsAt: number): string {
  const count = most.toLocaleString("en");
  return (
    `${who} has used all of its ${count} ${what} of this ${window} (limits.per_key.${limit}); ` +
    `there are more from ${iso(endsAt)} on.`
  );
}
