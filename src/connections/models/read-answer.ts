/** Reads the object of an answer: the JSON that it certainly means, or why there is none, in words for the model and the author. */
import { isDeepStrictEqual } from "node:util";
import type { Masker } from "../masking.ts";
import { findJson, type FoundValue, placeOf } from "./answer-json.ts";
import type { ParseAnswers } from "./output-schema.ts";

/** Maximum length of the beginning of an answer in a message, in characters. */
const MAX_SHOWN_CHARS = 80;

/**
 * Reads an answer. Cut at its length limit, it must be JSON as a whole. Otherwise it means the one JSON value outside of its thinking that matches the schema; several that match count only if they
 * are equal.
 * @param parse completes the values that match, and returns the issues of the others
 * @param mask hides secrets in the beginning of the answer
 * @returns the value, or issues, or that the rest of the answer is missing
 */
export function readAnswer(
  { text, isCut }: { text: string; isCut: boolean },
  parse: ParseAnswers,
  mask: Masker,
): { value: unknown } | { issues: string[] } | "cut" {
  const { values, isWhole, problem } = findJson(text);
  if (isCut && !isWhole) return "cut";
  if (problem !== undefined) return { issues: [`the answer ${problem}${beginning(text, mask)}`] };
  const parsed = parseAll(values, parse);
  const fitting = values.flatMap(({ offset }, index) => {
    const result = parsed[index]!;
    return "value" in result ? [{ offset, value: result.value }] : [];
  });
  const [first, ...others] = fitting;
  const other = others.find(({ value }) => !isDeepStrictEqual(value, first!.value));
  if (other !== undefined)
    return {
      issues: [
        `the answer has several JSON values that match, which are not equal: at ${placeOf(first!.offset)} and at ${placeOf(other.offset)}`,
      ],
    };
  if (first !== undefined) return { value: first.value };
  const issues = parsed.flatMap((result) => ("issues" in result ? [result.issues] : [])).at(-1)!;
  if (values.length === 1) return { issues };
  return {
    issues: [
      `none of the ${values.length} JSON values of the answer matches; the last one begins at ${placeOf(values.at(-1)!.offset)}: ${issues[0]}`,
      ...issues.slice(1),
    ],
  };
}

function parseAll(values: readonly FoundValue[], parse: ParseAnswers): ReturnType<ParseAnswers> {
  const readable = values.flatMap(({ read }) => ("value" in read ? [read.value] : []));
  const parsed = parse(readable).values();
  return values.map(({ read }) => ("issue" in read ? { issues: [read.issue] } : parsed.next().value!));
}

function beginning(text: string, mask: Masker): string {
  const start = mask.text(text).trim().slice(0, MAX_SHOWN_CHARS).toWellFormed();
  return start === "" ? "" : `; it begins with ${JSON.stringify(start)}`;
}
