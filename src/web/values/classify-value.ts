/** Decides how to show a value: as rows, text, a single line, or a JSON tree. */
import { type Rows, parseRows } from "./rows.ts";

/** A value that the server truncated: the beginning of its JSON text. */
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

/** @returns the size of a JSON text, such as "1.0 MB", with one byte per character, which is exact for ASCII */
export function formatSize(chars: number): string {
  if (chars < 1_000) return `${chars} B`;
  return chars < 1_000_000 ? `${Math.round(chars / 1_000)} kB` : `${(chars / 1_000_000).toFixed(1)} MB`;
}

export type ClassifiedValue =
  | { kind: "empty"; text: string }
  | { kind: "rows"; rows: Rows }
  /** `isProperty`: the text is a property of the value, which is a JSON object. */
  | { kind: "text"; text: string; isProperty: boolean }
  | { kind: "plain"; text: string }
  | { kind: "json"; json: object };

/** The keys in the output of a `model` step that returns text. */
const MODEL_KEYS: ReadonlySet<string> = new Set(["text", "usage", "finish_reason"]);

export function classifyValue(value: unknown): ClassifiedValue {
  if (value === undefined) return { kind: "empty", text: "No value recorded." };
  if (value === null) return { kind: "empty", text: "null" };
  if (value === "") return { kind: "empty", text: "Empty string." };
  if (typeof value === "string") return { kind: "text", text: value, isProperty: false };
  if (typeof value !== "object") return { kind: "plain", text: JSON.stringify(value) };
  const rows = parseRows(value);
  if (rows !== null) return { kind: "rows", rows };
  const keys = Object.keys(value);
  if (keys.length === 0)
    return { kind: "empty", text: Array.isArray(value) ? "Empty list." : "Empty object." };
  const { text } = value as { text?: unknown };
  if (typeof text === "string" && text !== "" && keys.every((key) => MODEL_KEYS.has(key)))
    return { kind: "text", text, isProperty: true };
  return { kind: "json", json: value };
}
