import { Group, Stack, Text } from "@mantine/core";
import type { RunSummary } from "../../../schemas/run.ts";
import { OpenMark } from "../interruptions/open-mark.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { continuedFailuresLabel } from "./labels.ts";

type RunStatusFields = "id" | "status" | "open_interruptions" | "continued_failures";

/** The status of a run in a list, how many of its steps failed and did not end it, and whether it has open interruptions. */
export const RunStatus = ({ run }: { run: Pick<RunSummary, RunStatusFields> }) => (
  <Stack gap={2} align="flex-start">
    <Group gap={4} wrap="nowrap">
      <StatusBadge status={run.status} />
      <OpenMark run={run} />
    </Group>
    <FailedCount label={continuedFailuresLabel(run)} />
  </Stack>
);

/** How many steps or items failed although what they belong to went on. */
export const FailedCount = ({ label }: { label: string | null }) =>
  label === null ? null : (
    <Text span size="xs" fw={700} c="var(--mantine-color-error)" style={{ whiteSpace: "nowrap" }}>
      {label}
    </Text>
  );
