import { useEffect, useState } from "react";

/**
 * The current time, updated each second; in milliseconds since 1970.
 * @param enabled false stops the updates
 */
export function useClock(enabled: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!enabled) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [enabled]);
  return now;
}
