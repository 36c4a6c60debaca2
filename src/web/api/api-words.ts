/** Texts of the API name its tools, routes and headers for agents and scripts. People get the same texts without them. */
import { TOOL_NAMES } from "../../../schemas/generated/tool-names.ts";
import type { Issue, Problem } from "../../../schemas/problem.ts";
import { endSentence } from "../ui/sentence.ts";

const TOOL = `\\b(?:${TOOL_NAMES.join("|")})\\b`;
const API_WORD = new RegExp(
  `${TOOL}|\\b(?:GET|POST|PUT|PATCH|DELETE) /|\\b(?:X-API-Key|If-(?:None-)?Match|Idempotency-Key)\\b|/apidoc\\b|\\binclude[:=]`,
);
/** "Add one with update_workflow": the tool with which to do what people do on a page. */
const WITH_TOOL = new RegExp(` (?:with|in|by) ${TOOL}(?! with| and| or)`, "g");
/** A remark in parentheses, without others inside of it. */
const REMARK = /\s*\(([^()]*)\)/g;

/** Whether a text names a tool, a route or a header of the API. */
export const hasApiWord = (text: string): boolean => API_WORD.test(text);

/**
 * A text without what it says about calling the API: remarks in parentheses, the tool of a sentence, and else the whole sentence or
 * the clause after a semicolon.
 * @returns an empty text if nothing else is in it
 */
export function withoutApiWords(text: string): string {
  if (!hasApiWord(text)) return text;
  const shorter = text
    .replaceAll(REMARK, (remark, inner: string) => (hasApiWord(inner) ? "" : remark))
    .replaceAll(WITH_TOOL, "");
  return shorter
    .split(/(?<=[.!?])\s+(?=\S)/)
    .flatMap((sentence) => {
      if (!hasApiWord(sentence)) return [sentence];
      const clauses = sentence.split("; ").filter((clause) => !hasApiWord(clause));
      return clauses.length === 0 ? [] : [capitalize(endSentence(clauses.join("; ")))];
    })
    .join(" ");
}

/** The clause that is left may have been in the middle of a sentence. A name in quotes or backticks stays as it is. */
const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** An issue for people. */
export function issueForPeople<T extends Pick<Issue, "message" | "fix">>(issue: T): T {
  const { fix, ...others } = issue;
  const shorter = fix === undefined ? "" : withoutApiWords(fix);
  return {
    ...others,
    message: withoutApiWords(issue.message) || "is not valid",
    ...(shorter !== "" && { fix: shorter }),
  } as T;
}

/** The detail of a problem for people. Where the API says only how to call it, the title remains. */
export const detailForPeople = ({ detail, title }: Pick<Problem, "detail" | "title">): string =>
  withoutApiWords(detail) || endSentence(title);
