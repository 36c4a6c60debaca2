/** The result of one run, and the status of a backtest, as badges: a colour, an icon and a word (WCAG 1.4.1). */
import { Badge } from "@mantine/core";
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
import type { ComponentType } from "react";
import type { BacktestResult, BacktestStatus } from "../../../schemas/backtest.ts";
import { RESULT_COLORS, RESULT_LABELS } from "./results.ts";

type Icon = ComponentType<{ size?: number; "aria-hidden"?: boolean }>;

const RESULT_ICONS: Readonly<Record<BacktestResult, Icon>> = {
  equal: IconEqual,
  different: IconArrowsDiff,
  failing: IconX,
  not_comparable: IconQuestionMark,
};

const STATUS_STYLES: Readonly<Record<BacktestStatus, { color: string; StatusIcon: Icon }>> = {
  running: { color: "blue", StatusIcon: IconLoader2 },
  finished: { color: "gray", StatusIcon: IconCheck },
  failed: { color: "red", StatusIcon: IconX },
  cancelled: { color: "gray", StatusIcon: IconBan },
};

export function ResultBadge({ result }: { result: BacktestResult | null }) {
  return result === null ? (
    <IconBadge color="gray" label="pending" LabelIcon={IconCircleDashed} />
  ) : (
    <IconBadge color={RESULT_COLORS[result]} label={RESULT_LABELS[result]} LabelIcon={RESULT_ICONS[result]} />
  );
}

export function BacktestBadge({ status }: { status: BacktestStatus }) {
  const { color, StatusIcon } = STATUS_STYLES[status];
  return <IconBadge color={color} label={status} LabelIcon={StatusIcon} />;
}

function IconBadge({ color, label, LabelIcon }: { color: string; label: string; LabelIcon: Icon }) {
  return (
    <Badge
      variant="light"
      color={color}
      leftSection={<LabelIcon size={12} aria-hidden />}
      tt="none"
      miw="max-content"
      // Only the icon is coloured: no shade has a contrast of 4.5:1 on its own tint in both schemes (WCAG 1.4.3).
      styles={{ label: { color: "var(--mantine-color-text)" } }}
      className={`status-${color}`}
    >
      {label}
    </Badge>
  );
}
