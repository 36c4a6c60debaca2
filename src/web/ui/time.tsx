import { Text, Tooltip } from "@mantine/core";
import { formatNumber, locale } from "../locale/locale.ts";
import { formatRelativeTime } from "./relative-time.ts";
import { useNow } from "./now.ts";

const localFormat = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const zonedFormat = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long" });

/**
 * A time in the browser's time zone. A tooltip shows it in UTC.
 * @param ago shows it as "3 minutes ago", with the local time in the tooltip
 * @param zone names the time zone, for times that people in several ones agree on
 */
export function Time({ at, ago = false, zone = false }: { at: string; ago?: boolean; zone?: boolean }) {
  const timestamp = Date.parse(at);
  const now = useNow();
  const text = ago
    ? formatRelativeTime(timestamp, now)
    : (zone ? zonedFormat : localFormat).format(timestamp);
  const utc = `${new Date(timestamp).toISOString().replace("T", " ").slice(0, 19)} UTC`;
  return (
    <Tooltip
      label={ago ? `${localFormat.format(timestamp)} · ${utc}` : utc}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Text component="time" dateTime={at} inherit style={{ whiteSpace: "nowrap" }}>
        {text}
      </Text>
    </Tooltip>
  );
}

const ONE_DECIMAL = { minimumFractionDigits: 1, maximumFractionDigits: 1 };

/** Formats a duration: "850 ms", "12.4 s", "3 min 20 s", "2 h 5 min". @param ms milliseconds */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${formatNumber(ms / 1_000, ONE_DECIMAL)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
