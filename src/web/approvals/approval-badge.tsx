/** What the status of an approval looks like: a colour, a shape and a word. */
import { Badge } from "@mantine/core";
import { IconBan, IconCheck, IconClockPause, IconHourglassOff, IconX } from "@tabler/icons-react";
import type { ApprovalStatus } from "../../../schemas/run.ts";

const APPROVAL_STYLES = {
  pending: { color: "yellow", Icon: IconClockPause, word: "waits" },
  approved: { color: "green", Icon: IconCheck, word: "approved" },
  declined: { color: "red", Icon: IconX, word: "declined" },
  expired: { color: "gray", Icon: IconHourglassOff, word: "expired" },
  cancelled: { color: "gray", Icon: IconBan, word: "cancelled" },
} as const satisfies Record<ApprovalStatus, unknown>;

export const APPROVAL_STATUSES = Object.keys(APPROVAL_STYLES) as ApprovalStatus[];

export function ApprovalBadge({ status }: { status: ApprovalStatus }) {
  const { color, Icon, word } = APPROVAL_STYLES[status];
  return (
    <Badge
      variant="light"
      color={color}
      leftSection={<Icon size={12} aria-hidden />}
      tt="none"
      styles={{ label: { color: "var(--mantine-color-text)" } }}
      miw="max-content"
    >
      {word}
    </Badge>
  );
}
