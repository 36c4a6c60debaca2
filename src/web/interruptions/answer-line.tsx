import type { Interruption } from "../../../schemas/interruption.ts";
import { Time } from "../ui/time.tsx";
import { OUTCOME_LABELS } from "./texts.ts";

/** Whether the effect happened, who said so, when, and the comment. Nothing while it is open. */
export function AnswerLine({
  interruption: { outcome, settled_at: at, settled_by: by, comment },
}: {
  interruption: Interruption;
}) {
  if (outcome === null || at === null) return null;
  return (
    <>
      <strong>{OUTCOME_LABELS[outcome]}</strong> · {by ?? "lookup"}, <Time at={at} ago />
      {comment !== null && ` · “${comment}”`}
    </>
  );
}
