/** Keeps a page from deciding on a click that was meant for another one. */
import { useEffect, useState } from "react";

/** How long a page must be in front before it counts as seen, in milliseconds. */
const MIN_MS = 700;

/**
 * Whether this page has been in front for a moment. A page of another site can open this one, or close its own window above
 * it, between the two clicks of a double click.
 */
export function useInFront(): boolean {
  const [inFront, setInFront] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    function restart() {
      clearTimeout(timer);
      setInFront(false);
      if (document.visibilityState === "visible") timer = setTimeout(() => setInFront(true), MIN_MS);
    }
    restart();
    addEventListener("focus", restart);
    document.addEventListener("visibilitychange", restart);
    return () => {
      clearTimeout(timer);
      removeEventListener("focus", restart);
      document.removeEventListener("visibilitychange", restart);
    };
  }, []);
  return inFront;
}
