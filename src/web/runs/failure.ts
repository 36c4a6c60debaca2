/** Describes a run's failure in one sentence, with how to fix it. */
import * as texts from "#texts/runs";
import type { Run, RunError } from "../../../schemas/run.ts";
import { endSentence } from "../ui/sentence.ts";

export interface Failure {
  /** "revenue failed after 4 attempts: shop: no such column: regoin." */
  summary: string;
  /** "Write region." */
  fix: string;
}

type RunOutcome = Pick<Run, "error" | "failed_step">;

/** @returns undefined when the run has not failed */
export function describeFailure({ error, failed_step: step }: RunOutcome): Failure | undefined {
  if (error === null) return undefined;
  return {
    summary: summaryOf(error, step),
    fix: endSentence(fixOf(error)),
  };
}

function summaryOf({ step_id: id, item, message: text }: RunError, step: RunOutcome["failed_step"]): string {
  const message = endSentence(text);
  if (id === undefined) return texts.runFailure({ message });
  const attempts = Math.max(1, step?.attempts ?? 0);
  return item === undefined
    ? texts.stepFailure({ step: id, attempts, message })
    : texts.itemFailure({ step: id, item, attempts, message });
}

function fixOf({ fix, step_id: id }: RunError): string {
  if (fix !== undefined && fix.trim() !== "") return fix;
  return id === undefined ? texts.fixRun : texts.fixStep({ step: id });
}

/** Maximum length of an error message in a list, in characters. */
const MAX_CHARS = 160;

/** The first sentence of the first line of a message, truncated if it is long. */
export function firstSentence(text: string): string {
  const line = text.trim().split("\n", 1)[0]!;
  const sentence = /^.*?[.!?](?=\s+\p{Lu}|$)/u.exec(line)?.[0] ?? line;
  return sentence.length <= MAX_CHARS ? sentence : `${sentence.slice(0, MAX_CHARS).toWellFormed()}…`;
}
