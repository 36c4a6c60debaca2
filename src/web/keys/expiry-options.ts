/** The choices for the expiration date of a key. */
import * as texts from "#texts/keys";

const DAY_MS = 86_400_000;
const DAYS = { "7 days": 7, "30 days": 30, "90 days": 90, "1 year": 365 } as const;
const LABELS: Readonly<Record<keyof typeof DAYS, string>> = {
  "7 days": texts.in7Days,
  "30 days": texts.in30Days,
  "90 days": texts.in90Days,
  "1 year": texts.in1Year,
};

export type ExpiryOption = keyof typeof DAYS | "never" | "custom";

export const EXPIRY_OPTIONS: readonly { value: ExpiryOption; label: string }[] = [
  ...(Object.keys(DAYS) as (keyof typeof DAYS)[]).map((days) => ({ value: days, label: LABELS[days] })),
  { value: "custom", label: texts.customDate },
  { value: "never", label: texts.neverExpires },
];

/** @returns the last day of the key as YYYY-MM-DD in UTC; undefined for a key that never expires */
export function expiryDate(option: Exclude<ExpiryOption, "custom">, now: number): string | undefined {
  return option === "never" ? undefined : new Date(now + DAYS[option] * DAY_MS).toISOString().slice(0, 10);
}
