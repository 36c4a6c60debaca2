/** The status of a run or step as a badge. */
import {
  IconBan,
  IconCheck,
  IconCircleDashed,
  IconClockPause,
  IconLoader2,
  IconPlayerSkipForward,
  IconX,
} from "@tabler/icons-react";
import type { RunStatus, StepStatus } from "../../../schemas/run.ts";
import { type BadgeIcon, IconBadge } from "./icon-badge.tsx";

interface StatusStyle {
  color: string;
  Icon: BadgeIcon;
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
  return <IconBadge color={color} label={status} Icon={Icon} />;
}
