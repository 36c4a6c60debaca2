/** The status of a bulk action, and what happened with one of its runs, as badges. */
import {
  IconBan,
  IconCheck,
  IconCircleDashed,
  IconLoader2,
  IconPlayerSkipForward,
  IconRefresh,
} from "@tabler/icons-react";
import type { BulkActionResult, BulkActionStatus } from "../../../schemas/bulk-action.ts";
import { type BadgeIcon, IconBadge } from "../ui/icon-badge.tsx";

interface Style {
  color: string;
  Icon: BadgeIcon;
}

const STATUS_STYLES: Readonly<Record<BulkActionStatus, Style>> = {
  preview: { color: "gray", Icon: IconCircleDashed },
  running: { color: "blue", Icon: IconLoader2 },
  finished: { color: "gray", Icon: IconCheck },
  cancelled: { color: "gray", Icon: IconBan },
};

const RESULT_STYLES: Readonly<Record<BulkActionResult, Style>> = {
  retried: { color: "green", Icon: IconRefresh },
  cancelled: { color: "green", Icon: IconBan },
  skipped: { color: "gray", Icon: IconPlayerSkipForward },
};

export const BulkActionBadge = ({ status }: { status: BulkActionStatus }) => (
  <IconBadge {...STATUS_STYLES[status]} label={status} />
);

export const ResultBadge = ({ result }: { result: BulkActionResult | null }) =>
  result === null ? (
    <IconBadge color="gray" label="pending" Icon={IconCircleDashed} />
  ) : (
    <IconBadge {...RESULT_STYLES[result]} label={result} />
  );
