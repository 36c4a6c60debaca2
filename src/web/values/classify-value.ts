/** Decides how to show a value: as rows, text, a single line, or a JSON tree. */
import * as texts from "#texts/values";
import { type Rows, parseRows } from "./rows.ts";

/** A value that the server truncated: the beginning of its JSON text. */
export interface TruncatedPayload {
  truncated: true;
  chars: number;
  preview: string;
  /** The lists of which the preview has only the first items, by their path, with their full length. */
  lists?: Record<string, number>;
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
  | { kind: "empty"; text: string }
  | { kind: "rows"; rows: Rows }
  /** `isProperty`: the text is a property of the value, which is a JSON object. */
  | { kind: "text"; text: string; isProperty: boolean }
  | { kind: "plain"; text: string }
  | { kind: "json"; json: object };

/** The keys in the output of a `model` step that returns text. */
const MODEL_KEYS: ReadonlySet<string> = new Set(["text", "usage", "finish_reason"]);

export function classifyValue(value: unknown): ClassifiedValue {
  if (value === undefined) return { kind: "empty", text: texts.noValue };
  if (value === null) return { kind: "empty", text: "null" };
  if (value === "") return { kind: "empty", text: texts.emptyString };
  if (typeof value === "string") return { kind: "text", text: value, isProperty: false };
  if (typeof value !== "object") return { kind: "plain", text: JSON.stringify(value) };
  const rows = parseRows(value);
  if (rows !== null) return { kind: "rows", rows };
  const keys = Object.keys(value);
  if (keys.length === 0)
    return { kind: "empty", text: Array.isArray(value) ? texts.emptyList : texts.emptyObject };
  const { text } = value as { text?: unknown };
  if (typeof text === "string" && text !== "" && keys.every((key) => MODEL_KEYS.has(key)))
    return { kind: "text", text, isProperty: true };
  return { kind: "json", json: value };
}
