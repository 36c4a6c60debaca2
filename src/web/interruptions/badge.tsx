/** The state of an interruption as a badge: open, or how it was answered. */
import { IconCheck, IconClockPause, IconHelpTriangle, IconX } from "@tabler/icons-react";
import type { Interruption } from "../../../schemas/interruption.ts";
import { IconBadge } from "../ui/icon-badge.tsx";

const STYLES = {
  waiting: { color: "yellow", Icon: IconClockPause, label: "run waits" },
  open: { color: "yellow", Icon: IconHelpTriangle, label: "open" },
  happened: { color: "green", Icon: IconCheck, label: "happened" },
  not_happened: { color: "gray", Icon: IconX, label: "did not happen" },
  unknown: { color: "gray", Icon: IconHelpTriangle, label: "unknown" },
} as const;

export const InterruptionBadge = ({ interruption: { outcome, waiting } }: { interruption: Interruption }) => (
  <IconBadge {...STYLES[outcome ?? (waiting ? "waiting" : "open")]} />
);
