/** Times: local, with UTC on hover and for who can't hover. */
import { Text, Tooltip } from "@mantine/core";
import { formatRelativeTime } from "./relative-time.ts";
import { useNow } from "./now.ts";

const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** @param ago as "3 minutes ago", where how long ago matters more than when */
export function Time({ at, ago = false }: { at: string; ago?: boolean }) {
  const moment = Date.parse(at);
  const now = useNow();
  const shown = ago ? formatRelativeTime(moment, now) : local.format(moment);
  const utc = `${new Date(moment).toISOString().replace("T", " ").slice(0, 19)} UTC`;
  return (
    <Tooltip
      label={ago ? `${local.format(moment)} · ${utc}` : utc}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Text component="time" dateTime={at} inherit style={{ whiteSpace: "nowrap" }}>
        {shown}
      </Text>
    </Tooltip>
  );
}

/** A length of time in milliseconds: "850 ms", "12.4 s", "3 min 20 s", "2 h 5 min". */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
