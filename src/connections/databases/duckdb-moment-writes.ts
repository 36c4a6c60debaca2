/**
 * Finds out whether a statement that writes converts to a time what a function makes of a moment as a text. DuckDB shows the plan of such
 * a statement only as EXPLAIN prints it: without lists of values, which it computes while it plans, and so refuses a probe there, and
 * with names instead of expressions that have one. (Child processes load this file.)
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type MomentPlaces, probesIn } from "./duckdb-moment-places.ts";

/**
 * @param plans a connection whose `explain_output` is `all`: a plan that is optimized has no condition that no row fits
 * @param text the statement with probes for the moments that it takes as texts
 */
export async function readWrittenMoments(
  plans: DuckDBConnection,
  text: string,
): Promise<Omit<MomentPlaces, "times">> {
  const printed = await printedPlan(plans, text);
  if (printed instanceof Error) return { areUnclear: true, areLost: CONVERTED.test(printed.message) };
  const shown = new Set(printed.expressions.flatMap(probesIn));
  return {
    areLost: printed.expressions.some(convertsProbe),
    areUnclear: !printed.hasValues && probesIn(text).some((probe) => !shown.has(probe)),
  };
}

/** The error about a probe, or a part of one, that is converted. */
const CONVERTED = /^Conversion Error: .*<m/i;

interface PrintedPlan {
  expressions: string[];
  /** Whether it has a list of values, whose expressions are not printed. */
  hasValues: boolean;
}

async function printedPlan(plans: DuckDBConnection, text: string): Promise<PrintedPlan | Error> {
  try {
    const reader = await plans.runAndReadAll(`EXPLAIN (FORMAT JSON) ${text}`);
    const plan = reader.getRows().find(([key]) => key === "logical_plan")![1];
    const expressions: string[] = [];
    JSON.parse(String(plan), (_, value: unknown) => {
      if (typeof value === "string") expressions.push(value);
      return value;
    });
    return { expressions, hasValues: expressions.includes("EXPRESSION_GET") };
  } catch (error) {
    return error as Error;
  }
}

/** Texts, parentheses, comparisons, the function that reads a text by its format, and the type at the end of a cast. */
const TOKENS = /'(?:[^']|'')*'|\bstrptime"?\(|[()]| (?:=|!=|<>|[<>]=?) | AS ([A-Z][\w ]*)(?=[)([])/g;
const ZONELESS = /^(?:DATE|TIME(?:STAMP)?(?:_\w+)?)$/;

/** Whether a printed expression converts to a time without a zone a text that may come from a probe. */
function convertsProbe(expression: string): boolean {
  const groups = [{ hasProbe: false, isText: true }];
  for (const [token, type] of expression.matchAll(TOKENS)) {
    const group = groups.at(-1)!;
    if (token.endsWith("(")) groups.push({ hasProbe: false, isText: token === "(" });
    else if (token === ")" && groups.length > 1) {
      groups.pop();
      if (group.hasProbe && group.isText) groups.at(-1)!.hasProbe = true;
    } else if (token.startsWith("'")) group.hasProbe ||= probesIn(token).length > 0;
    else if (type === undefined) group.isText = false;
    else if (ZONELESS.test(type) && group.hasProbe) return true;
    else group.isText &&= type === "VARCHAR";
  }
  return false;
}
