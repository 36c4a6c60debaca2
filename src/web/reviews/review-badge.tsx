/** The status of a change request as a badge. */
import {
  IconArrowBackUp,
  IconCheck,
  IconClockPause,
  IconHistory,
  IconReplace,
  IconX,
} from "@tabler/icons-react";
import type { ReviewStatus } from "../../../schemas/review.ts";
import { IconBadge } from "../ui/icon-badge.tsx";

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
  return <IconBadge color={color} label={status} Icon={Icon} />;
}
