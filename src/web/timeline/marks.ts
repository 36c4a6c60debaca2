/** What happened to the approvals of a step, as marks on its bar. */
import * as texts from "#texts/timeline";
import type { RunStep } from "../../../schemas/run.ts";
import { describeEvents } from "../approvals/approval-events.ts";
import { formatStartOffset } from "./row-labels.ts";

export interface Mark {
  /** Milliseconds since 1970. */
  at: number;
  /** Such as "ann@example.com approved". */
  text: string;
}

/** In the order in which they happened. */
export const marksOf = ({ approval_list: approvals = [] }: Pick<RunStep, "approval_list">): Mark[] =>
  approvals
    .flatMap((approval) =>
      describeEvents(approval).map(({ at, text }) => ({
        at: Date.parse(at),
        text: approval.item === undefined ? text : texts.item({ item: approval.item, event: text }),
      })),
    )
    .toSorted((a, b) => a.at - b.at);

/** Maximum number of marks whose texts are listed. */
const MAX_NAMED = 8;

/**
 * The newest marks in words, with how many there were before.
 * @param start of the run, in milliseconds since 1970
 */
export function markTexts(marks: readonly Mark[], start: number): string[] {
  const more = marks.length - MAX_NAMED;
  const named = marks
    .slice(-MAX_NAMED)
    .map(({ at, text }) => texts.event({ event: text, when: formatStartOffset(at - start) }));
  return more > 0 ? [texts.earlierEvents({ count: more }), ...named] : named;
}
