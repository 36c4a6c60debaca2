import { Group } from "@mantine/core";
import type { RunSummary } from "../../../schemas/run.ts";
import { OpenMark } from "../interruptions/open-mark.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";

/** The status of a run in a list, and whether it has open interruptions. */
export const RunStatus = ({ run }: { run: Pick<RunSummary, "id" | "status" | "open_interruptions"> }) => (
  <Group gap={4} wrap="nowrap">
    <StatusBadge status={run.status} />
    <OpenMark run={run} />
  </Group>
);
