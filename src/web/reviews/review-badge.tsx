/** The status of a change request as a badge: a colour, an icon and a word. */
import { Badge } from "@mantine/core";
import {
  IconArrowBackUp,
  IconCheck,
  IconClockPause,
  IconHistory,
  IconReplace,
  IconX,
} from "@tabler/icons-react";
import * as texts from "#texts/reviews";
import type { ReviewStatus } from "../../../schemas/review.ts";

const STYLES = {
  pending: { color: "yellow", Icon: IconClockPause },
  approved: { color: "green", Icon: IconCheck },
  rejected: { color: "red", Icon: IconX },
  withdrawn: { color: "gray", Icon: IconArrowBackUp },
  replaced: { color: "gray", Icon: IconReplace },
  outdated: { color: "gray", Icon: IconHistory },
} as const satisfies Record<ReviewStatus, unknown>;

export const REVIEW_STATUSES = Object.keys(STYLES) as ReviewStatus[];

export function ReviewBadge({ status }: { status: ReviewStatus }) {
  const { color, Icon } = STYLES[status];
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
