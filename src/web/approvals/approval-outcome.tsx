/** The outcome of an approval: the decision, by whom, when and why, and the submitted form. */
import { Alert, Stack, Text } from "@mantine/core";
import type { Approval } from "../../../schemas/approval.ts";
import { Section } from "../runs/section.tsx";
import { Time } from "../ui/time.tsx";
import { ValueView } from "../values/value-view.tsx";
import { byText } from "./progress.ts";
import { OUTCOME_TITLES } from "./texts.ts";

export function ApprovalOutcome({ approval }: { approval: Approval }) {
  const {
    status,
    decided_at: at,
    decided_by: by,
    comment,
    answer,
    run_id: runId,
    decided_via: via,
  } = approval;
  if (status === "pending") return null;
  return (
    <Stack>
      <Alert color="gray" title={OUTCOME_TITLES[status]} role="status">
        <Text size="sm">
          {by !== null && `By ${byText(by, via)}, `}
          {at !== null && <Time at={at} />}
          {status === "expired" && `. Retry the run ${runId} to ask again.`}
        </Text>
        {comment !== null && (
          <Text size="sm" mt="xs" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
            “{comment}”
          </Text>
        )}
      </Alert>
      {answer !== null && (
        <Section title="Form answers" order={2}>
          <ValueView value={answer} label="Form answers" />
        </Section>
      )}
    </Stack>
  );
}
