/** The present moment to the second, for what is under way. */
import { useEffect, useState } from "react";

/** @param moving whether anything needs it; else it stands still */
export function useClock(moving: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!moving) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [moving]);
  return now;
}
