import { useEffect, useRef } from "react";

/**
 * Focuses the first invalid field after a request has failed.
 * @param error error of the request; each new error moves the focus again
 * @returns the ref for the form
 */
export function useFocusIssue(error: unknown) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return form;
}
