/** What the command palette finds on the server. */
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { send } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { searchIssue } from "../workflows/filters.ts";
import { matches } from "./intent.ts";

/** Pause in typing after which the server is asked, in milliseconds. */
const DEBOUNCE_MS = 150;
/** Maximum number of workflows, and of people, that are shown. */
const MAX_RESULTS = 8;
/** Minimum number of characters to search people. */
const MIN_PERSON_CHARS = 2;

const shared = { staleTime: 30_000, placeholderData: keepPreviousData };

/** @param words what to search for; empty for nothing */
export function useResults(words: string) {
  const hasScope = useHasScope();
  const [search] = useDebouncedValue(words.trim(), DEBOUNCE_MS);
  const isSearched = search !== "" && searchIssue(search) === undefined;
  const workflows = useQuery({
    queryKey: ["workflows", "palette", search],
    queryFn: async ({ signal }) =>
      (
        await send("get", "/workflows", {
          query: { search, sort: "-updated_at", limit: MAX_RESULTS },
          signal,
        })
      ).data,
    enabled: isSearched,
    ...shared,
  });
  const people = useQuery({
    queryKey: ["users", "palette", search],
    queryFn: async ({ signal }) =>
      (await send("get", "/users", { query: { search, limit: MAX_RESULTS }, signal })).data,
    enabled: isSearched && search.length >= MIN_PERSON_CHARS && hasScope("admin"),
    ...shared,
  });
  const used = words.trim() !== "" && searchIssue(words) === undefined;
  const current = search === words.trim();
  // What an older text has found stays only if it fits the newer one: Enter opens the first.
  const shown = <T>(
    { data, isPlaceholderData }: { data: T[] | undefined; isPlaceholderData: boolean },
    textOf: (item: T) => string,
  ): T[] => {
    if (!used) return [];
    if (current && !isPlaceholderData) return data ?? [];
    return (data ?? []).filter((item) => matches(textOf(item), words));
  };
  return {
    workflows: shown(workflows, ({ id, name }) => `${id} ${name}`),
    people: shown(people, ({ email }) => email),
    isSearching: used && (!current || workflows.isFetching || people.isFetching) && !workflows.isError,
    error: used ? workflows.error : null,
  };
}
