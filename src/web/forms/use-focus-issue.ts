/** After a refusal: the first field that is wrong takes the focus. */
import { useEffect, useRef } from "react";

/**
 * @param error of the request; another one moves the focus again
 * @returns the ref of the form
 */
export function useFocusIssue(error: unknown) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return form;
}
