/** How long something took, or has taken until now, in words. */
import { lengthOfTime } from "../ui/time.tsx";

/** @param now milliseconds since 1970; it counts where there is no end yet */
export const took = (from: string, to: string | null, now: number): string =>
  lengthOfTime(Math.max(0, (to === null ? now : Date.parse(to)) - Date.parse(from)));
