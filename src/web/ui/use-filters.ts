/** List filters in the query string, so that a filtered list can be linked to. */
import { useSearchParams } from "react-router";

/** @returns the current filters, and a function that sets one; an empty value removes it */
export function useFilters(): readonly [URLSearchParams, (name: string, value: string) => void] {
  const [params, setParams] = useSearchParams();
  const setFilter = (name: string, value: string): void =>
    setParams(
      (current) => {
        const next = new URLSearchParams(current);
        if (value === "") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  return [params, setFilter];
}
