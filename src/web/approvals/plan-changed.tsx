/** What has changed since the question, and what that means for the decisions so far. */
import { Alert, List, Text } from "@mantine/core";
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import { outdatedText } from "./review-reason.ts";

/** Nothing for a plan that is still the one of the question. */
export function PlanChanged({ approval }: { approval: Approval }) {
  const { plan, status } = approval;
  if (plan?.changed !== true) return null;
  const isPending = status === "pending";
  const outdated = isPending ? outdatedText(approval) : null;
  return (
    <Alert
      color="yellow"
      title={isPending ? texts.changedSinceQuestion : texts.changedSinceDecision}
      role="note"
      style={{ overflowWrap: "anywhere" }}
    >
      <List size="sm" aria-label={texts.changes}>
        {(plan.changes ?? []).map(({ text }) => (
          <List.Item key={text}>{text}</List.Item>
        ))}
      </List>
      {isPending && (
        <Text size="sm" mt="xs">
          {outdated !== null && `${outdated} `}
          {texts.decisionIsForNow}
        </Text>
      )}
    </Alert>
  );
}
