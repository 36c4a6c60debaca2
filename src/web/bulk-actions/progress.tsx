/** How far a bulk action is: one bar; what is missing at its end is pending. */
import { Progress } from "@mantine/core";
import type { BulkActionSummary } from "../../../schemas/bulk-action.ts";
import { RUN_STATUSES } from "../runs/filters.ts";
import { STATUS_STYLES } from "../ui/status-badge.tsx";
import { describeCounts, DONE } from "./texts.ts";

interface ProgressBarProps {
  bulkAction: BulkActionSummary;
  size?: "sm" | "md";
}

export function ProgressBar({ bulkAction, size = "md" }: ProgressBarProps) {
  const { total } = bulkAction.runs;
  return (
    <Progress.Root
      size={size}
      role="img"
      aria-label={`Of ${total.toLocaleString()} runs: ${describeCounts(bulkAction)}`}
    >
      {partsOf(bulkAction).map(({ name, count, color }) => (
        <Progress.Section key={name} value={(count / total) * 100} color={color} withAria={false} />
      ))}
    </Progress.Root>
  );
}

/** Retried runs by the status of the retry. A retry that was purged has none. */
function partsOf({ action, runs, retries = {} }: BulkActionSummary) {
  const byStatus = RUN_STATUSES.map((status) => ({
    name: status as string,
    count: retries[status] ?? 0,
    color: STATUS_STYLES[status].color,
  }));
  const known = byStatus.reduce((sum, { count }) => sum + count, 0);
  return [
    ...byStatus,
    { name: DONE[action], count: runs.done - known, color: "green" },
    { name: "skipped", count: runs.skipped, color: "gray.5" },
  ].filter(({ count }) => count > 0);
}
