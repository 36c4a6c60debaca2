/** A run's failure in one sentence, and what to do about it. */
import type { Run, RunError } from "../../../schemas/run.ts";
import { pluralize } from "./labels.ts";

export interface Failure {
  /** "revenue failed after 4 attempts: shop: no such column: regoin." */
  what: string;
  /** "Write region." */
  fix: string;
}

type Failed = Pick<Run, "error" | "failed_step">;

/** @returns undefined for a run that has not failed */
export function describeFailure({ error, failed_step: step }: Failed): Failure | undefined {
  if (error === null) return undefined;
  return { what: `${subjectOf(error, step)}: ${closed(error.message)}`, fix: closed(todoOf(error)) };
}

function subjectOf({ step_id: id, item }: RunError, step: Failed["failed_step"]): string {
  if (id === undefined) return "The run failed";
  const who = item === undefined ? id : `${id}, item ${item},`;
  const attempts = step?.attempts ?? 0;
  return attempts > 1 ? `${who} failed after ${pluralize(attempts, "attempt")}` : `${who} failed`;
}

function todoOf({ fix, step_id: id }: RunError): string {
  if (fix !== undefined && fix.trim() !== "") return fix;
  return id === undefined
    ? "Mend the cause, then retry the run"
    : `Look at what ${id} was given, mend it, then retry from there`;
}

/** Ends in a full stop, or in what stands there already. */
const closed = (text: string): string => (/[.!?…)]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`);

const MOST_CHARS = 160;

/** The beginning of a message for a list: its first sentence and line, cut where that is long. */
export function firstSentence(text: string): string {
  const line = text.trim().split("\n", 1)[0]!;
  const sentence = /^.*?[.!?](?=\s+\p{Lu}|$)/u.exec(line)?.[0] ?? line;
  return sentence.length <= MOST_CHARS ? sentence : `${sentence.slice(0, MOST_CHARS).toWellFormed()}…`;
}
