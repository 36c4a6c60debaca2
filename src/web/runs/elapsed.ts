import { formatDuration } from "../ui/duration.ts";

/**
 * The duration from a start to an end, as text.
 * @param to null when it has not ended; then the time until `now` is used
 * @param now milliseconds since 1970
 */
export const formatElapsed = (from: string, to: string | null, now: number): string =>
  formatDuration(Math.max(0, (to === null ? now : Date.parse(to)) - Date.parse(from)));
