/** Why a person has to look at more than the card of the list shows before they decide. */
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import { assigneeNames } from "./progress.ts";

/** Maximum number of steps that a card shows. With more the user opens it before they decide. */
export const MAX_CARD_STEPS = 4;

/** @returns null where the card shows all that a decision needs */
export function reviewReason(approval: Approval): string | null {
  const { form, plan, you, assignees } = approval;
  if (plan === undefined) return null;
  if (plan.changed) return texts.reviewChanged;
  if (you?.override === true) return texts.reviewOverride({ assignees: assigneeNames(assignees) });
  if (form !== null) return texts.reviewForm;
  const steps = plan.workflows.flatMap((workflow) => workflow.steps);
  if (steps.length > MAX_CARD_STEPS) return texts.reviewSteps;
  return plan.workflows.every(isShownWhole) ? null : texts.reviewHidden;
}

/** Whether the steps say all: a workflow of another project shows none, and one that runs on failure is named beside them. */
const isShownWhole = ({
  foreign,
  on_failure: onFailure,
}: NonNullable<Approval["plan"]>["workflows"][number]): boolean =>
  foreign !== true && onFailure === undefined;

/** Whose decisions no longer count; null for none. */
export function outdatedText({ decisions = [] }: Pick<Approval, "decisions">): string | null {
  const names = [...new Set(decisions.flatMap(({ outdated, by }) => (outdated === true ? [by] : [])))];
  if (names.length === 0) return null;
  return texts.outdated({ count: names.length, names: names.join(", ") });
}
