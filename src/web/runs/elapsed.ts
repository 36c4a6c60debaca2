/** How long something took, or has taken until now, in words. */
import { formatDuration } from "../ui/time.tsx";

/** @param now milliseconds since 1970; it counts where there is no end yet */
export const formatElapsed = (from: string, to: string | null, now: number): string =>
  formatDuration(Math.max(0, (to === null ? now : Date.parse(to)) - Date.parse(from)));
