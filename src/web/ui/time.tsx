import { Text, Tooltip } from "@mantine/core";
import { formatRelativeTime } from "./relative-time.ts";
import { useNow } from "./now.ts";

const localFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/**
 * A time in the browser's time zone. A tooltip shows it in UTC.
 * @param ago shows it as "3 minutes ago", with the local time in the tooltip
 */
export function Time({ at, ago = false }: { at: string; ago?: boolean }) {
  const timestamp = Date.parse(at);
  const now = useNow();
  const text = ago ? formatRelativeTime(timestamp, now) : localFormat.format(timestamp);
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
