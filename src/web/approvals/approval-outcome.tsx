/** The outcome of an approval: the decision, by whom, when and why, and the submitted form. */
import { Alert, Stack, Text } from "@mantine/core";
import * as texts from "#texts/approvals";
import type { Approval } from "../../../schemas/approval.ts";
import { Section } from "../runs/section.tsx";
import { Time } from "../ui/time.tsx";
import { ValueView } from "../values/value-view.tsx";

export function ApprovalOutcome({ approval }: { approval: Approval }) {
  const {
    status,
    decided_at: at,
    decided_by: by,
    comment,
    answer,
    run_id: runId,
    decided_via: via = "api",
  } = approval;
  if (status === "pending") return null;
  const decided = at === null ? null : <Time at={at} zone />;
  const outcome = by === null ? decided : texts.outcomeBy({ by, via, time: decided });
  return (
    <Stack>
      <Alert color="gray" title={texts.outcome({ status })} role="status">
        <Text size="sm">
          {status === "expired" ? texts.retryToAsk({ time: outcome, run: runId }) : outcome}
        </Text>
        {comment !== null && (
          <Text size="sm" mt="xs" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
            {texts.quotedComment({ comment })}
          </Text>
        )}
      </Alert>
      {answer !== null && (
        <Section title={texts.formAnswers} order={2}>
          <ValueView value={answer} label={texts.formAnswers} />
        </Section>
      )}
    </Stack>
  );
}
