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
import type { RunStatus, StepStatus } from "../../../schemas/run.ts";

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

export function StatusBadge({ status }: { status: RunStatus | StepStatus }) {
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
      {status}
    </Badge>
  );
}
