import { useEffect, useState } from "react";
import { useConnection } from "../api/connection.ts";

/**
 * The current time, updated each second; in milliseconds since 1970. While the server can't be reached, when it answered last.
 * @param enabled false stops the updates
 */
export function useClock(enabled: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!enabled) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [enabled]);
  return useKnownTime(now);
}

/** A time that does not pass while the server can't be reached: what runs are doing since then is not known. */
export function useKnownTime(now: number): number {
  const { isReachable, lastContact } = useConnection();
  return isReachable ? now : lastContact;
}
