/** Reads what the error of a failed condition records: its expression, and what its operands were. */
import type { RunError } from "../../../schemas/run.ts";

interface ConditionDetails {
  expression: string;
  operands: Operand[];
  /** Number of operands that were not recorded. */
  more: number;
}

export interface Operand {
  expression: string;
  /** Its value as JSON, or the start of that. */
  text: string;
  /** Length of the whole value, in characters of JSON, if `text` is only its start. */
  chars?: number;
  /** It had no value: `text` says why. */
  failed?: true;
}

/** @returns undefined for other errors, and for those of releases that recorded no operands */
export function conditionDetails({ details }: RunError): ConditionDetails | undefined {
  const { expression, operands, more_operands: more } = details ?? {};
  if (typeof expression !== "string" || !Array.isArray(operands)) return undefined;
  const read = operands.flatMap((operand) => readOperand(operand) ?? []);
  return read.length === 0
    ? undefined
    : { expression, operands: read, more: typeof more === "number" ? more : 0 };
}

function readOperand(value: unknown): Operand | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const operand = value as Record<string, unknown>;
  const { expression, error, truncated } = operand;
  if (typeof expression !== "string") return undefined;
  if (typeof error === "string") return { expression, text: error, failed: true };
  if (typeof truncated === "object" && truncated !== null) {
    const { preview, chars } = truncated as Record<string, unknown>;
    if (typeof preview === "string" && typeof chars === "number") return { expression, text: preview, chars };
  }
  return { expression, text: JSON.stringify(operand["value"] ?? null) };
}
