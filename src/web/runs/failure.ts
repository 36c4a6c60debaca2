/** Describes a run's failure in one sentence, with how to fix it. Ids are in backticks (see `MarkedText`). */
import type { Run, RunError } from "../../../schemas/run.ts";
import { withoutApiWords } from "../api/api-words.ts";
import { endSentence } from "../ui/sentence.ts";
import { pluralize } from "./labels.ts";

export interface Failure {
  /** "`revenue` failed after 4 attempts: shop: no such column: regoin." */
  summary: string;
  /** "Write region." */
  fix: string;
}

type RunOutcome = Pick<Run, "error" | "failed_step">;

/** @returns undefined when the run has not failed */
export function describeFailure({ error, failed_step: step }: RunOutcome): Failure | undefined {
  if (error === null) return undefined;
  return {
    summary: `${subjectOf(error, step)}: ${endSentence(withoutApiWords(error.message))}`,
    fix: endSentence(fixOf(error)),
  };
}

function subjectOf({ step_id: id, item }: RunError, step: RunOutcome["failed_step"]): string {
  if (id === undefined) return "The run failed";
  const subject = item === undefined ? `\`${id}\`` : `\`${id}\`, item ${item},`;
  const attempts = step?.attempts ?? 0;
  return attempts > 1 ? `${subject} failed after ${pluralize(attempts, "attempt")}` : `${subject} failed`;
}

function fixOf({ fix, step_id: id }: RunError): string {
  const advice = withoutApiWords(fix ?? "").trim();
  if (advice !== "") return advice;
  return id === undefined
    ? "Fix the cause, then retry the run"
    : `Check the input of \`${id}\`, fix the cause, then retry from \`${id}\``;
}

/** Maximum length of an error message in a list, in characters. */
const MAX_CHARS = 160;

/** The first sentence of the first line of a message, truncated if it is long. */
export function firstSentence(text: string): string {
  const line = text.trim().split("\n", 1)[0]!;
  const sentence = /^.*?[.!?](?=\s+\p{Lu}|$)/u.exec(line)?.[0] ?? line;
  return sentence.length <= MAX_CHARS ? sentence : `${sentence.slice(0, MAX_CHARS).toWellFormed()}…`;
}
