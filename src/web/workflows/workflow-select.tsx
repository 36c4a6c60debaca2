/** A choice of one workflow, or none. */
import { Select, type SelectProps } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../api/client.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";

/** Number of workflows that are suggested. */
const MAX_SUGGESTIONS = 20;
/** Pause in typing after which the server is searched, in milliseconds. */
const DEBOUNCE_MS = 250;

interface WorkflowSelectProps extends Pick<
  SelectProps,
  "label" | "description" | "placeholder" | "flex" | "maw"
> {
  value: string | undefined;
  onChange: (workflowId: string | undefined) => void;
}

/** Searches on the server, since there may be thousands of workflows. */
export function WorkflowSelect({ value, onChange, ...look }: WorkflowSelectProps) {
  const [typed, setTyped] = useState("");
  const [search] = useDebouncedValue(typed, DEBOUNCE_MS);
  const project = useProjectFilter();
  const results = useQuery({
    queryKey: ["workflows", "names", search, project],
    queryFn: ({ signal }) =>
      send("get", "/workflows", {
        query: { search, sort: "name", limit: MAX_SUGGESTIONS, ...project },
        signal,
      }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const names = results.data?.data.map(({ id }) => id) ?? [];
  return (
    <Select
      data={value === undefined || names.includes(value) ? names : [value, ...names]}
      value={value ?? null}
      onChange={(to) => onChange(to ?? undefined)}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      // The server has already filtered, by names and tags too.
      filter={({ options }) => options}
      nothingFoundMessage={results.isPending ? "Searching…" : "No matching workflows"}
      clearable
      clearButtonProps={{ "aria-label": "Clear workflow" }}
      {...look}
    />
  );
}
