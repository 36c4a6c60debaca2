/** A choice of one workflow, or none. */
import { Box, type ComboboxItem, Select, type SelectProps, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../api/client.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { useWorkflowText } from "./names.tsx";

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
  const name = useWorkflowText(value ?? null);
  // The text of the field is the name of the chosen workflow until somebody types.
  const [search] = useDebouncedValue(typed === name ? "" : typed, DEBOUNCE_MS);
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
  const found = results.data?.data.map(({ id, name: label }) => ({ value: id, label })) ?? [];
  return (
    <Select
      data={
        value === undefined || found.some((option) => option.value === value)
          ? found
          : [{ value, label: name }, ...found]
      }
      value={value ?? null}
      onChange={(to) => onChange(to ?? undefined)}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      renderOption={({ option }) => <Option {...option} />}
      // The server has already filtered, by ids and tags too.
      filter={({ options }) => options}
      nothingFoundMessage={results.isPending ? "Searching…" : "No matching workflows"}
      clearable
      clearButtonProps={{ "aria-label": "Clear workflow" }}
      {...look}
    />
  );
}

/** The name, with the id, since names need not be unique. */
const Option = ({ value, label }: ComboboxItem) => (
  <Box style={{ overflowWrap: "anywhere" }}>
    <bdi>{label}</bdi>
    <Text size="xs" c="dimmed">
      {value}
    </Text>
  </Box>
);
