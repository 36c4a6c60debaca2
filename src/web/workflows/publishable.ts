/** Whether the text in the editor can be published. */
import * as texts from "#texts/workflows";
import type { ValidationState } from "../editor/use-validation.ts";
import { endSentence } from "../ui/sentence.ts";

interface PublishCandidate {
  isEmpty: boolean;
  isChanged: boolean;
  isSaving: boolean;
  mayPublish: boolean;
  /** Whether its newest version is the published one. */
  isPublished: boolean;
  /** Number of errors, of the text before the last change while it is checked. */
  errors: number;
  state: ValidationState["state"];
  reason?: string | undefined;
}

/** @returns why a definition can't be published; undefined if it can */
export function whyNotPublishable(candidate: PublishCandidate): string | undefined {
  const { isEmpty, isChanged, isSaving, mayPublish, isPublished, errors, state, reason } = candidate;
  if (!mayPublish) return texts.mayNotPublish;
  if (isSaving) return texts.beingSaved;
  if (isEmpty) return texts.emptyDefinition;
  if (isPublished && !isChanged) return texts.alreadyPublished;
  if (errors > 0) return texts.fixErrorsToPublish({ count: errors });
  if (state === "unavailable") return endSentence(texts.notChecked({ reason: reason ?? texts.noAnswer }));
  return undefined;
}
