/** How long a key may live, as one chooses it. */

const DAY_MS = 86_400_000;
const DAYS = { "7 days": 7, "30 days": 30, "90 days": 90, "1 year": 365 } as const;

export type ExpiryOption = keyof typeof DAYS | "never" | "custom";

export const EXPIRY_OPTIONS: readonly { value: ExpiryOption; label: string }[] = [
  ...(Object.keys(DAYS) as (keyof typeof DAYS)[]).map((days) => ({ value: days, label: `In ${days}` })),
  { value: "custom", label: "On a day of your choice" },
  { value: "never", label: "Never" },
];

/** The last day of a key (UTC, as the server reads it), undefined for a key without an end. */
export function expiryDate(life: Exclude<ExpiryOption, "custom">, now: number): string | undefined {
  return life === "never" ? undefined : new Date(now + DAYS[life] * DAY_MS).toISOString().slice(0, 10);
}
