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
import { STATUS_COLORS, type StatusColor } from "./status-colors.ts";

interface StatusStyle {
  color: StatusColor;
  Icon: BadgeIcon;
}

export const STATUS_STYLES: Readonly<Record<RunStatus | StepStatus, StatusStyle>> = {
  queued: { color: STATUS_COLORS.queued, Icon: IconCircleDashed },
  pending: { color: STATUS_COLORS.pending, Icon: IconCircleDashed },
  running: { color: STATUS_COLORS.running, Icon: IconLoader2 },
  waiting: { color: STATUS_COLORS.waiting, Icon: IconClockPause },
  succeeded: { color: STATUS_COLORS.succeeded, Icon: IconCheck },
  failed: { color: STATUS_COLORS.failed, Icon: IconX },
  skipped: { color: STATUS_COLORS.skipped, Icon: IconPlayerSkipForward },
  cancelled: { color: STATUS_COLORS.cancelled, Icon: IconBan },
};

export function StatusBadge({ status }: { status: RunStatus | StepStatus }) {
  const { color, Icon } = STATUS_STYLES[status];
  return <IconBadge color={color} label={status} Icon={Icon} />;
}
