/** The status of a run or step as a badge: an icon and a word, not only a colour (WCAG 1.4.1). */
import { Badge } from "@mantine/core";
import {
  IconBan,
  IconCheck,
  IconCircleDashed,
  IconClockPause,
  IconLoader2,
  IconPlayerSkipForward,
  IconX,
} from "@tabler/icons-react";
import type { ComponentType } from "react";
import * as texts from "#texts/ui";
import type { RunStatus, StepStatus } from "../../../schemas/run-status.ts";

interface StatusStyle {
  color: string;
  Icon: ComponentType<{ size?: number; "aria-hidden"?: boolean }>;
}

export const STATUS_STYLES: Readonly<Record<RunStatus | StepStatus, StatusStyle>> = {
  queued: { color: "gray", Icon: IconCircleDashed },
  pending: { color: "gray", Icon: IconCircleDashed },
  running: { color: "blue", Icon: IconLoader2 },
  waiting: { color: "yellow", Icon: IconClockPause },
  succeeded: { color: "green", Icon: IconCheck },
  failed: { color: "red", Icon: IconX },
  skipped: { color: "gray", Icon: IconPlayerSkipForward },
  cancelled: { color: "gray", Icon: IconBan },
};

export const statusLabel = (status: RunStatus | StepStatus): string => texts.status({ status });

interface StatusBadgeProps {
  status: RunStatus | StepStatus;
  /** The word, for what is not a run or a step but has its colours; default: that of the status. */
  label?: string;
}

export function StatusBadge({ status, label = statusLabel(status) }: StatusBadgeProps) {
  const { color, Icon } = STATUS_STYLES[status];
  return (
    <Badge
      variant="light"
      color={color}
      leftSection={<Icon size={12} aria-hidden />}
      tt="none"
      miw="max-content"
      // Only the icon is coloured: no shade has a contrast of 4.5:1 on its own tint in both schemes (WCAG 1.4.3).
      styles={{ label: { color: "var(--mantine-color-text)" } }}
      className={`status-${color}`}
    >
      {label}
    </Badge>
  );
}
