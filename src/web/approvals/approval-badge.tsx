/** The status of an approval as a badge: a colour, an icon and a word. */
import { Badge } from "@mantine/core";
import { IconBan, IconCheck, IconClockPause, IconHourglassOff, IconX } from "@tabler/icons-react";
import * as texts from "#texts/approvals";
import type { ApprovalStatus } from "../../../schemas/run-status.ts";

const APPROVAL_STYLES = {
  pending: { color: "yellow", Icon: IconClockPause },
  approved: { color: "green", Icon: IconCheck },
  declined: { color: "red", Icon: IconX },
  expired: { color: "gray", Icon: IconHourglassOff },
  cancelled: { color: "gray", Icon: IconBan },
} as const satisfies Record<ApprovalStatus, unknown>;

export const APPROVAL_STATUSES = Object.keys(APPROVAL_STYLES) as ApprovalStatus[];

export function ApprovalBadge({ status }: { status: ApprovalStatus }) {
  const { color, Icon } = APPROVAL_STYLES[status];
  return (
    <Badge
      variant="light"
      color={color}
      leftSection={<Icon size={12} aria-hidden />}
      tt="none"
      styles={{ label: { color: "var(--mantine-color-text)" } }}
      miw="max-content"
    >
      {texts.status({ status })}
    </Badge>
  );
}
