/** Describes a value in a few words. */
import * as texts from "#texts/runs";
import { isTruncated } from "../values/classify-value.ts";

/** Maximum number of fields that are named. */
const MAX_NAMED = 3;

/** "region, since", "region, since and 4 more", "12,000 characters", "none". */
export function summarizeValue(value: unknown): string {
  if (isTruncated(value)) return texts.characters({ count: value.chars });
  if (Array.isArray(value)) return texts.items({ count: value.length });
  if (typeof value !== "object" || value === null)
    return value === undefined || value === null ? texts.none : "";
  const names = Object.keys(value);
  if (names.length === 0) return texts.none;
  return names.length <= MAX_NAMED
    ? names.join(", ")
    : texts.fieldsAndMore({ names: names.slice(0, MAX_NAMED).join(", "), more: names.length - MAX_NAMED });
}
