/**
 * Finds out how DuckDB takes moments at places to which a query gives no type, such as an argument of `date_diff`. DuckDB converts a
 * text there when it runs the query, and leaves out its offset. The plan of the query says so. (Child processes load this file.)
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { SqlValue } from "./driver.ts";
import { readMoment } from "./moments.ts";

/** A text that is no moment, and that no query has: DuckDB can't convert it before the plan is written. */
const probeOf = (number: number): string => `<moment ${number} of a parameter>`;
const PROBES = /<moment (\d+) of a parameter>/g;
const isShifted = (value: SqlValue): boolean => readMoment(value)?.isShifted === true;

/**
 * The literal that stands for a value in the query whose plan is read.
 * @param number that of the place or of the value, from 0 on
 */
export function probeLiteral(value: SqlValue, number: number): string {
  if (value === null) return "NULL";
  if (typeof value !== "string") return `(${value})`;
  return quoted(isShifted(value) ? probeOf(number) : value);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export interface MomentPlaces {
  /** The numbers of the probes that the query converts to a time. */
  times: ReadonlySet<number>;
  /** Whether the query takes one of them as a text too, or converts a text to a time that may come from another one. */
  areUnclear: boolean;
}

/**
 * @param text the query with the literals of `probeLiteral`
 * @returns undefined if DuckDB writes no plan of the query
 */
export async function readMomentPlaces(
  connection: DuckDBConnection,
  text: string,
): Promise<MomentPlaces | undefined> {
  const plan = await planOf(connection, text);
  if (plan === undefined) return undefined;
  const converted: number[] = [];
  const zoneless = new Set<number>();
  let isTextConverted = false;
  const stack: unknown[] = [plan];
  while (stack.length > 0) {
    const node = stack.pop();
    if (typeof node !== "object" || node === null) continue;
    stack.push(...(Object.values(node) as unknown[]));
    const { expression_class: kind, return_type: type, child } = node as PlanNode;
    if (kind !== "BOUND_CAST" || !hasTime(type)) continue;
    if (child?.expression_class === "BOUND_CONSTANT") {
      const probes = probesIn(child);
      converted.push(...probes);
      if (!hasZone(type)) for (const probe of probes) zoneless.add(probe);
    }
    if (child?.expression_class !== "BOUND_CONSTANT" && hasText(child?.return_type)) isTextConverted = true;
  }
  const all = probesIn(plan);
  const areTexts = all.length > converted.length;
  // A text whose offset DuckDB reads may stay one where it is also taken as a text.
  const [inAll, inConverted] = [countsOf(all), countsOf(converted)];
  const both = new Set(converted.filter((probe) => inAll.get(probe)! > inConverted.get(probe)!));
  return {
    times: new Set(converted.filter((probe) => !both.has(probe))),
    areUnclear: [...both].some((probe) => zoneless.has(probe)) || (isTextConverted && areTexts),
  };
}

const probesIn = (node: unknown): number[] =>
  [...JSON.stringify(node).matchAll(PROBES)].map(([, number]) => Number(number));

/** How often each number occurs. */
function countsOf(numbers: readonly number[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return counts;
}

/** An expression in the plan that `json_serialize_plan` writes. */
interface PlanNode {
  expression_class?: string;
  return_type?: unknown;
  child?: PlanNode;
}

async function planOf(connection: DuckDBConnection, text: string): Promise<unknown> {
  try {
    const reader = await connection.runAndReadAll(`SELECT json_serialize_plan(${quoted(text)})`);
    const plan = JSON.parse(String(reader.getRows()[0]![0])) as { error: boolean };
    return plan.error ? undefined : plan;
  } catch {
    return undefined;
  }
}

/** Whether a type is that of a date or a time, or has a part of one. */
const hasTime = (type: unknown): boolean => /"id":"(?:DATE|TIME)/.test(JSON.stringify(type) ?? "");
const hasZone = (type: unknown): boolean => JSON.stringify(type).includes('"id":"TIMESTAMP WITH TIME ZONE"');
/** Whether a type is that of a text, or has a part of one. A cast has no type in a plan where it is a function. */
const hasText = (type: unknown): boolean =>
  type === undefined || /"id":"(?:VARCHAR|STRING_LITERAL)"/.test(JSON.stringify(type));
