/** The status of an approval as a badge: a colour, an icon and a word. */
import { Badge } from "@mantine/core";
import { IconBan, IconCheck, IconClockPause, IconHourglassOff, IconX } from "@tabler/icons-react";
import type { ApprovalStatus } from "../../../schemas/run.ts";
import { APPROVAL_COLORS } from "../ui/status-colors.ts";

const ICONS = {
  pending: IconClockPause,
  approved: IconCheck,
  declined: IconX,
  expired: IconHourglassOff,
  cancelled: IconBan,
} as const satisfies Record<ApprovalStatus, unknown>;

export const APPROVAL_STATUSES = Object.keys(ICONS) as ApprovalStatus[];

export function ApprovalBadge({ status }: { status: ApprovalStatus }) {
  const Icon = ICONS[status];
  return (
    <Badge
      variant="light"
      color={APPROVAL_COLORS[status]}
      leftSection={<Icon size={12} aria-hidden />}
      tt="none"
      styles={{ label: { color: "var(--mantine-color-text)" } }}
      miw="max-content"
    >
      {status}
    </Badge>
  );
}
