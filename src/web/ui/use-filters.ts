/** Filters that live in the address: every list can be linked to as it is shown. */
import { useSearchParams } from "react-router";

/** @returns what the address says, and a function that puts a filter there (empty takes it away) */
export function useFilters(): readonly [URLSearchParams, (name: string, value: string) => void] {
  const [search, setSearch] = useSearchParams();
  const put = (name: string, value: string): void =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === "") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  return [search, put];
}
