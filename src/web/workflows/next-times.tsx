/** The next times of a schedule, as its time zone shows them. */
import { Text } from "@mantine/core";
import { formatZonedTime } from "./zoned-time.ts";

/** @param times local times with their offsets; undefined while they are not known */
export function NextTimes({ times }: { times: readonly string[] | undefined }) {
  if (times === undefined || times.length === 0) return null;
  return (
    <Text component="span" size="sm" c="dimmed" display="block">
      Next: {times.map(formatZonedTime).join("; ")}
    </Text>
  );
}
