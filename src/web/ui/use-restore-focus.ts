import { useEffect } from "react";

/**
 * Returns the focus to the previously focused element when a dialog unmounts. The library does so only for dialogs
 * that stay mounted while closed.
 */
export function useRestoreFocus(): void {
  useEffect(() => {
    const previous = document.activeElement;
    return () => {
      if (previous instanceof HTMLElement && previous.isConnected) previous.focus();
    };
  }, []);
}
