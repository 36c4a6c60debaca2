import { useEffect } from "react";

/**
 * For a dialog that is there only while it is open: gives the focus back to what had it before. (The library does so
 * only for one that stays and is closed.)
 */
export function useRestoreFocus(): void {
  useEffect(() => {
    const before = document.activeElement;
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
}
