/** The filters of the run list. */
import { Button, Group, MultiSelect, Select, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { RunTrigger } from "../../../schemas/run.ts";
import { send } from "../api/client.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { isDay, isFiltered, type RunFilters, RUN_STATUSES } from "./filters.ts";
import { TRIGGER_LABELS } from "./labels.ts";

interface FilterBarProps {
  filters: RunFilters;
  onChange: (filters: RunFilters) => void;
}

export function FilterBar({ filters, onChange }: FilterBarProps) {
  const { workflow, status, trigger, since, until } = filters;
  /** Changes some filters; undefined removes one. */
  const change = (part: { [Name in keyof RunFilters]?: RunFilters[Name] | undefined }): void => {
    const entries = Object.entries({ ...filters, ...part }).filter(
      ([, value]) => value !== undefined && value !== "",
    );
    onChange({ status, ...Object.fromEntries(entries) });
  };
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label="Filters">
      <WorkflowSelect value={workflow} onChange={(to) => change({ workflow: to })} />
      <MultiSelect
        label="Status"
        placeholder={status.length === 0 ? "Any" : ""}
        data={[...RUN_STATUSES]}
        value={status}
        onChange={(to) => change({ status: to })}
        clearable
        clearButtonProps={{ "aria-label": "Clear status" }}
        flex="1 1 200px"
        maw={{ base: "100%", sm: 360 }}
      />
      <Select
        label="Trigger"
        placeholder="Any"
        data={Object.entries(TRIGGER_LABELS).map(([value, label]) => ({ value, label }))}
        value={trigger ?? null}
        onChange={(to) => change({ trigger: (to ?? undefined) as RunTrigger | undefined })}
        clearable
        clearButtonProps={{ "aria-label": "Clear trigger" }}
        flex="1 1 160px"
        maw={{ base: "100%", sm: 220 }}
      />
      <Day label="Since" value={since} onChange={(to) => change({ since: to })} />
      <Day label="Until" value={until} onChange={(to) => change({ until: to })} />
      {isFiltered(filters) && (
        <Button variant="subtle" onClick={() => onChange({ status: [] })}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

/** The URL may contain a full timestamp; then its day is shown until another is chosen. */
function Day({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (day: string | undefined) => void;
}) {
  return (
    <TextInput
      type="date"
      label={label}
      value={value === undefined ? "" : isDay(value) ? value : dayOf(value)}
      onChange={({ currentTarget: { value: day } }) => onChange(day === "" ? undefined : day)}
      flex="1 1 140px"
      maw={{ base: "100%", sm: 180 }}
    />
  );
}

const two = (n: number): string => String(n).padStart(2, "0");

function dayOf(timestamp: string): string {
  const at = new Date(timestamp);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** Number of workflows that are suggested. */
const MAX_SUGGESTIONS = 20;
/** Pause in typing after which the server is searched, in milliseconds. */
const DEBOUNCE_MS = 250;

/** Searches on the server, since there may be thousands of workflows. */
function WorkflowSelect({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (workflowId: string | undefined) => void;
}) {
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
      label="Workflow"
      placeholder="Any"
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
      flex="1 1 200px"
      maw={{ base: "100%", sm: 320 }}
    />
  );
}
