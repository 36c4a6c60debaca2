/** Refuses texts that UTF-8 can't write: half of a surrogate pair would become U+FFFD. */
import { StepError } from "./step-errors.ts";

/** The end of a message about such a text. */
export const HALF_PAIR = "half a surrogate pair, which is no character";

/**
 * @param subject what the text is, as the subject of the message
 * @throws StepError input_invalid
 */
export function assertWellFormed(subject: string, text: string): void {
  if (text.isWellFormed()) return;
  throw new StepError("input_invalid", `${subject} contains ${HALF_PAIR}.`, { fix: "Remove it." });
}
