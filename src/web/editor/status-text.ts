import * as texts from "#texts/editor";
import type { ValidationState } from "./use-validation.ts";

export interface CheckedText {
  /** Empty for a text without a definition. */
  state: "empty" | ValidationState["state"];
  reason?: string | undefined;
  isPartial?: boolean | undefined;
  /** Number of errors. */
  errors: number;
  /** Whether the errors are those of the syntax. */
  isInvalid: boolean;
}

/** The state in a sentence. */
export function statusText({
  state,
  reason = texts.noAnswer,
  isPartial = false,
  errors,
  isInvalid,
}: CheckedText): string {
  switch (state) {
    case "empty":
      return texts.emptyDefinition;
    case "idle":
      return texts.notChecked;
    case "checking":
      return texts.checking;
    case "unavailable":
      return texts.notCheckedBecause({ reason });
    case "checked":
      if (errors > 0) return isInvalid ? texts.syntaxError : texts.savableOnly;
      return isPartial ? texts.partlyChecked : texts.valid;
  }
}
