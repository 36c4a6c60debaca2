/** The result of one run, and the status of a backtest, as badges. */
import {
  IconArrowsDiff,
  IconBan,
  IconCheck,
  IconCircleDashed,
  IconEqual,
  IconLoader2,
  IconQuestionMark,
  IconX,
} from "@tabler/icons-react";
import type { BacktestResult, BacktestStatus } from "../../../schemas/backtest.ts";
import { type BadgeIcon, IconBadge } from "../ui/icon-badge.tsx";
import { RESULT_COLORS, RESULT_LABELS } from "./results.ts";

const RESULT_ICONS: Readonly<Record<BacktestResult, BadgeIcon>> = {
  equal: IconEqual,
  different: IconArrowsDiff,
  failing: IconX,
  not_comparable: IconQuestionMark,
};

const STATUS_STYLES: Readonly<Record<BacktestStatus, { color: string; Icon: BadgeIcon }>> = {
  running: { color: "blue", Icon: IconLoader2 },
  finished: { color: "gray", Icon: IconCheck },
  failed: { color: "red", Icon: IconX },
  cancelled: { color: "gray", Icon: IconBan },
};

export function ResultBadge({ result }: { result: BacktestResult | null }) {
  return result === null ? (
    <IconBadge color="gray" label="pending" Icon={IconCircleDashed} />
  ) : (
    <IconBadge color={RESULT_COLORS[result]} label={RESULT_LABELS[result]} Icon={RESULT_ICONS[result]} />
  );
}

export function BacktestBadge({ status }: { status: BacktestStatus }) {
  const { color, Icon } = STATUS_STYLES[status];
  return <IconBadge color={color} label={status} Icon={Icon} />;
}
