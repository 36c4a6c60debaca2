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

/** The text with these values instead of their probes. */
export const withoutProbes = (text: string, values: ReadonlyMap<number, string>): string =>
  text.replaceAll(PROBES, (probe, number) => values.get(Number(number))?.replaceAll("'", "''") ?? probe);

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export interface MomentPlaces {
  /** The numbers of the probes that the query converts to a time. */
  times: ReadonlySet<number>;
  /** Whether the query takes one of them as a text too, or converts a text to a time that may come from another one. */
  areUnclear: boolean;
  /** Whether the query converts to a time without a zone what a function has made of one as a text. */
  areLost: boolean;
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
  for (const { child, return_type: type } of castsIn(plan)) {
    if (!hasTime(type) || child?.expression_class !== "BOUND_CONSTANT") continue;
    const probes = probesIn(child);
    converted.push(...probes);
    if (!hasZone(type)) for (const probe of probes) zoneless.add(probe);
  }
  const all = probesIn(plan);
  // A text whose offset DuckDB reads may stay one where it is also taken as a text.
  const [inAll, inConverted] = [countsOf(all), countsOf(converted)];
  const both = new Set(converted.filter((probe) => inAll.get(probe)! > inConverted.get(probe)!));
  const texts = readTexts(plan.plans, all.length > converted.length);
  return {
    times: new Set(converted.filter((probe) => !both.has(probe))),
    areUnclear: [...both].some((probe) => zoneless.has(probe)) || texts.areUnclear,
    areLost: texts.areLost,
  };
}

/** Follows the texts of probes through the operators of a plan. */
function readTexts(
  operators: readonly PlanNode[],
  areTexts: boolean,
): Pick<MomentPlaces, "areUnclear" | "areLost"> {
  const found = { areUnclear: false, areLost: false };
  /** @returns whether the rows of the operator may have the text of a probe */
  function read({ children = [], ...own }: PlanNode): boolean {
    const below = children.map(read);
    const isBelow = below.includes(true) || (REFERENCES.has(own.type) && areTexts);
    const isHere = hasProbeText(own);
    const columns = isBelow || (probesIn(own).length > 0 && hasLambda(own));
    for (const { child, return_type: type } of castsIn(own)) {
      if (!hasTime(type) || hasZone(type) || child?.expression_class === "BOUND_CONSTANT") continue;
      // One field of a struct may be a time, and the text another one.
      if (hasProbeText(child)) found[isTime(type) ? "areLost" : "areUnclear"] = true;
      if (columns && hasTextColumn(child)) found.areUnclear = true;
    }
    const isWritten = children.some(({ expressions = [] }) => expressions.some(isTimeAsText));
    if (SETS.has(own.type) && isBelow && isWritten) found.areUnclear = true;
    return isBelow || (isHere && !CONDITIONS.has(own.type));
  }
  for (const operator of operators) read(operator);
  return found;
}

/** Operators whose rows are those of others, as in WITH. */
const REFERENCES: ReadonlySet<string | undefined> = new Set(["LOGICAL_CTE_REF", "LOGICAL_DELIM_GET"]);
const SETS: ReadonlySet<string | undefined> = new Set([
  "LOGICAL_UNION",
  "LOGICAL_EXCEPT",
  "LOGICAL_INTERSECT",
]);
/** Operators that only choose and order rows by their expressions. */
const CONDITIONS: ReadonlySet<string | undefined> = new Set([
  "LOGICAL_FILTER",
  "LOGICAL_COMPARISON_JOIN",
  "LOGICAL_ANY_JOIN",
  "LOGICAL_DELIM_JOIN",
  "LOGICAL_ASOF_JOIN",
  "LOGICAL_ORDER_BY",
  "LOGICAL_TOP_N",
  "LOGICAL_LIMIT",
]);
/** Expressions without a type in a plan, which are true or false. */
const TRUTHS: ReadonlySet<string | undefined> = new Set([
  "BOUND_COMPARISON",
  "BOUND_CONJUNCTION",
  "BOUND_BETWEEN",
]);

/** Whether the value of an expression may have the text of a probe. */
function hasProbeText(node: unknown): boolean {
  if (typeof node === "string") return probesIn(node).length > 0;
  if (typeof node !== "object" || node === null) return false;
  const { expression_class: kind, return_type: type } = node as PlanNode;
  if (TRUTHS.has(kind) || (type !== undefined && !hasText(type))) return false;
  return Object.values(node).some(hasProbeText);
}

/** Whether an expression has the text of a column. */
const hasTextColumn = (node: unknown): boolean =>
  objectsIn(node).some(
    ({ expression_class: kind, return_type: type }) => kind === "BOUND_REF" && hasText(type),
  );

/** Whether a lambda is among the expressions, whose parameters are like columns. */
const hasLambda = (node: unknown): boolean => objectsIn(node).some((object) => "lambda_expr" in object);

const isTimeAsText = ({ expression_class: kind, return_type: type, child }: PlanNode): boolean =>
  kind === "BOUND_CAST" && hasText(type) && hasTime(child?.return_type);

const castsIn = (node: unknown): PlanNode[] =>
  objectsIn(node).filter(({ expression_class: kind }) => kind === "BOUND_CAST");

/** All objects in a part of a plan, and itself. */
function objectsIn(node: unknown): PlanNode[] {
  const found: PlanNode[] = [];
  // Grows while it is read.
  const nodes = [node];
  for (const each of nodes) {
    if (typeof each !== "object" || each === null) continue;
    found.push(each);
    for (const part of Object.values(each)) nodes.push(part);
  }
  return found;
}

/** The numbers of the probes in a part of a plan, or in a text. */
export const probesIn = (node: unknown): number[] =>
  [...JSON.stringify(node).matchAll(PROBES)].map(([, number]) => Number(number));

/** How often each number occurs. */
function countsOf(numbers: readonly number[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return counts;
}

/** An operator or an expression in the plan that `json_serialize_plan` writes. */
interface PlanNode {
  type?: string;
  children?: PlanNode[];
  expressions?: PlanNode[];
  expression_class?: string;
  return_type?: unknown;
  child?: PlanNode;
}

async function planOf(
  connection: DuckDBConnection,
  text: string,
): Promise<{ plans: PlanNode[] } | undefined> {
  try {
    const reader = await connection.runAndReadAll(`SELECT json_serialize_plan(${quoted(text)})`);
    const plan = JSON.parse(String(reader.getRows()[0]![0])) as { error: boolean; plans: PlanNode[] };
    return plan.error ? undefined : plan;
  } catch {
    return undefined;
  }
}

/** Whether a type is that of a date or a time, or has a part of one. */
const hasTime = (type: unknown): boolean => /"id":"(?:DATE|TIME)/.test(JSON.stringify(type) ?? "");
const isTime = (type: unknown): boolean => /^(?:DATE|TIME)/.test((type as { id: string }).id);
const hasZone = (type: unknown): boolean => JSON.stringify(type).includes('"id":"TIMESTAMP WITH TIME ZONE"');
/** Whether a type is that of a text, or has a part of one. A cast has no type in a plan where it is a function. */
const hasText = (type: unknown): boolean =>
  type === undefined || /"id":"(?:VARCHAR|STRING_LITERAL)"/.test(JSON.stringify(type));
