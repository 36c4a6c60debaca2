/** What a value is to the eye: nothing, rows, text, something cut short, or any other JSON. */
import { type Rows, parseRows } from "./rows.ts";

/** A value that the server cut: the beginning of its JSON text. */
export interface TruncatedPayload {
  truncated: true;
  chars: number;
  preview: string;
  ref: string;
}

export function isTruncated(value: unknown): value is TruncatedPayload {
  if (typeof value !== "object" || value === null) return false;
  const { truncated, chars, preview, ref } = value as Partial<TruncatedPayload>;
  return (
    truncated === true && typeof chars === "number" && typeof preview === "string" && typeof ref === "string"
  );
}

export type ClassifiedValue =
  | { kind: "nothing"; words: string }
  | { kind: "rows"; rows: Rows }
  /** @param inside whether the text is a part of the value, which is JSON beside */
  | { kind: "text"; text: string; inside: boolean }
  | { kind: "plain"; text: string }
  | { kind: "json"; json: object };

/** The keys beside `text` of what a `model` step gives. */
const MODEL_KEYS: ReadonlySet<string> = new Set(["text", "usage", "finish_reason"]);

export function classifyValue(value: unknown): ClassifiedValue {
  if (value === undefined) return { kind: "nothing", words: "Nothing is recorded." };
  if (value === null) return { kind: "nothing", words: "The value is null." };
  if (value === "") return { kind: "nothing", words: "Empty text." };
  if (typeof value === "string") return { kind: "text", text: value, inside: false };
  if (typeof value !== "object") return { kind: "plain", text: JSON.stringify(value) };
  const rows = parseRows(value);
  if (rows !== null) return { kind: "rows", rows };
  const keys = Object.keys(value);
  if (keys.length === 0)
    return { kind: "nothing", words: Array.isArray(value) ? "An empty list." : "An empty object." };
  const { text } = value as { text?: unknown };
  if (typeof text === "string" && text !== "" && keys.every((key) => MODEL_KEYS.has(key)))
    return { kind: "text", text, inside: true };
  return { kind: "json", json: value };
}
