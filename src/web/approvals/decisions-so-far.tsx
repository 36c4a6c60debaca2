/** What each person decided, and what happened since the question: reminders, escalations, and to whom it was passed on. */
import { Text } from "@mantine/core";
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import { Section } from "../runs/section.tsx";
import { ApprovalEventList } from "./event-list.tsx";
import { isShared, progressText } from "./progress.ts";

type PersonalDecision = NonNullable<Approval["decisions"]>[number];

/** Nothing for an approval that one person decides, without a history. */
export function DecisionsSoFar({ approval }: { approval: Approval }) {
  const { decisions = [], history = [] } = approval;
  const isPlain =
    !isShared(approval) && decisions.every((decision) => decision.outdated !== true && !isUnusual(decision));
  if (history.length === 0 && isPlain) return null;
  return (
    <Section
      title={isShared(approval) ? texts.decisions({ progress: progressText(approval) }) : texts.happened}
      order={2}
    >
      {decisions.length === 0 && history.length === 0 ? (
        <Text size="sm">{texts.noDecisions}</Text>
      ) : (
        <ApprovalEventList approval={approval} />
      )}
    </Section>
  );
}

const isUnusual = ({ for: seat, override }: PersonalDecision): boolean =>
  seat !== undefined || override === true;
