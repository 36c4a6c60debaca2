/** Parses CSV in an expression: the work is charged to the evaluation. */
import { csvOptionsIssue, type CsvOptions, parseCsv } from "../../../core/csv.ts";
import { charge, chargeText, limitList } from "./evaluation-context.ts";
import { throwFailed } from "./failures.ts";
import type { FunctionBody, Param } from "./functions.ts";

/** Work of reading a value, and of setting a field of a row. */
const VALUE_COST = 2;
const FIELD_COST = 10;

export const csvOptions: Param = {
  kinds: ["map"],
  literalIssue: (value) => {
    const issue = csvOptionsIssue(value as Record<string, unknown>);
    return issue === undefined ? undefined : { code: "not_allowed", ...issue };
  },
};

export const csv: FunctionBody = ([value, options = {}], { evaluation, location }) => {
  const optionsIssue = csvOptionsIssue(options as Record<string, unknown>);
  if (optionsIssue !== undefined)
    return throwFailed(location, optionsIssue.message, { fix: optionsIssue.fix });
  const text = value as string;
  chargeText(evaluation, text.length, 1 / 2);
  const result = parseCsv(text, options as CsvOptions, {
    limitList: (length) => limitList(evaluation, length),
    countRead: (values) => charge(evaluation, VALUE_COST * values),
    countFields: (values) => charge(evaluation, FIELD_COST * values),
  });
  if ("rows" in result) return result.rows;
  const { line, message, fix } = result.issue;
  return throwFailed(location, `parses CSV that can't be read: ${message}`, { fix, line });
};
