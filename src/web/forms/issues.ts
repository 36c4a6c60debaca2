/** Which of the server's faults belong to which field: each is handed down along its path, and none gets lost. */
import type { Issue } from "../../../schemas/problem.ts";

/** The faults at a name or an index and below it, with paths from there on. */
export function issuesUnder(issues: readonly Issue[], part: string | number): Issue[] {
  const prefix = typeof part === "number" ? `[${part}]` : part;
  return issues.flatMap((issue) => {
    if (!issue.path.startsWith(prefix)) return [];
    const rest = issue.path.slice(prefix.length);
    if (rest !== "" && rest[0] !== "." && rest[0] !== "[") return [];
    return [{ ...issue, path: rest.replace(/^\./, "") }];
  });
}

/** The faults that none of these names or indexes takes: those of the value itself, and of names it does not know. */
export const issuesOutside = (issues: readonly Issue[], parts: readonly (string | number)[]): Issue[] =>
  issues.filter((issue) => !parts.some((part) => issuesUnder([issue], part).length > 0));

/** Faults as the text under a field; undefined where there is none. */
export function issueText(issues: readonly Issue[]): string | undefined {
  if (issues.length === 0) return undefined;
  return issues
    .map(({ path, message, fix }) => sentence(path === "" ? capital(message) : `${path}: ${message}`, fix))
    .join("\n");
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const sentence = (said: string, fix?: string): string =>
  fix === undefined ? said : `${said.replace(/\.?$/, ".")} ${fix}`;
