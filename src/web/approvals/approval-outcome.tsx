/** How an approval ended: who decided what, when and why, and what was filled in. */
import { Alert, Stack, Text } from "@mantine/core";
import type { Approval } from "../../../schemas/run.ts";
import { Section } from "../runs/section.tsx";
import { Time } from "../ui/time.tsx";
import { ValueView } from "../values/value-view.tsx";

const TITLES = {
  approved: "Approved",
  declined: "Declined",
  expired: "Nobody decided in time",
  cancelled: "It is not asked any more: the run was stopped",
} as const;

export function ApprovalOutcome({ approval }: { approval: Approval }) {
  const { status, decided_at: at, decided_by: by, comment, answer, run_id: runId } = approval;
  if (status === "pending") return null;
  return (
    <Stack>
      <Alert color="gray" title={TITLES[status]} role="status">
        <Text size="sm">
          {by !== null && `By ${by}, `}
          {at !== null && <Time at={at} />}
          {status === "expired" && `. Retrying the run ${runId} asks again.`}
        </Text>
        {comment !== null && (
          <Text size="sm" mt="xs" style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>
            “{comment}”
          </Text>
        )}
      </Alert>
      {answer !== null && (
        <Section title="What was filled in" order={2}>
          <ValueView value={answer} label="What was filled in" />
        </Section>
      )}
    </Stack>
  );
}
