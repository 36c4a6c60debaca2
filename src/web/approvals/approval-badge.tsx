/** The status of an approval as a badge: a colour, an icon and a word. */
import { Badge } from "@mantine/core";
import { IconBan, IconCheck, IconClockPause, IconHourglassOff, IconX } from "@tabler/icons-react";
import type { ApprovalStatus } from "../../../schemas/run.ts";

const APPROVAL_STYLES = {
  pending: { color: "yellow", Icon: IconClockPause, label: "pending" },
  approved: { color: "green", Icon: IconCheck, label: "approved" },
  declined: { color: "red", Icon: IconX, label: "declined" },
  expired: { color: "gray", Icon: IconHourglassOff, label: "expired" },
  cancelled: { color: "gray", Icon: IconBan, label: "cancelled" },
} as const satisfies Record<ApprovalStatus, unknown>;

export const APPROVAL_STATUSES = Object.keys(APPROVAL_STYLES) as ApprovalStatus[];

export function ApprovalBadge({ status }: { status: ApprovalStatus }) {
  const { color, Icon, label } = APPROVAL_STYLES[status];
  return (
    <Badge
      variant="light"
      color={color}
      leftSection={<Icon size={12} aria-hidden />}
      tt="none"
      styles={{ label: { color: "var(--mantine-color-text)" } }}
      miw="max-content"
    >
      {label}
    </Badge>
  );
}
