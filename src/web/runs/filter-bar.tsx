/** What the run list is picked by. */
import { Button, Group, MultiSelect, Select, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { RunTrigger } from "../../../schemas/run.ts";
import { send } from "../api/client.ts";
import { isDay, isFiltered, type RunFilters, RUN_STATUSES } from "./filters.ts";
import { TRIGGER_LABELS } from "./labels.ts";

interface FilterBarProps {
  filters: RunFilters;
  onChange: (filters: RunFilters) => void;
}

export function FilterBar({ filters, onChange }: FilterBarProps) {
  const { workflow, status, trigger, since, until } = filters;
  /** The filters with one in place of what it was; undefined takes it away. */
  const change = (part: { [Name in keyof RunFilters]?: RunFilters[Name] | undefined }): void => {
    const kept = Object.entries({ ...filters, ...part }).filter(
      ([, value]) => value !== undefined && value !== "",
    );
    onChange({ status, ...Object.fromEntries(kept) });
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
        clearButtonProps={{ "aria-label": "Any status" }}
        flex="1 1 200px"
        maw={{ base: "100%", sm: 360 }}
      />
      <Select
        label="Started by"
        placeholder="Anything"
        data={Object.entries(TRIGGER_LABELS).map(([value, label]) => ({ value, label }))}
        value={trigger ?? null}
        onChange={(to) => change({ trigger: (to ?? undefined) as RunTrigger | undefined })}
        clearable
        clearButtonProps={{ "aria-label": "Started by anything" }}
        flex="1 1 160px"
        maw={{ base: "100%", sm: 220 }}
      />
      <Day label="Since" value={since} onChange={(to) => change({ since: to })} />
      <Day label="Until" value={until} onChange={(to) => change({ until: to })} />
      {isFiltered(filters) && (
        <Button variant="subtle" onClick={() => onChange({ status: [] })}>
          Clear
        </Button>
      )}
    </Group>
  );
}

/** The address may name a moment in full; then its day is shown until another is chosen. */
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

function dayOf(moment: string): string {
  const at = new Date(moment);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

const SUGGESTED = 20;
const TYPING_MS = 250;

/** There may be thousands: they are searched where they are. */
function WorkflowSelect({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (workflowId: string | undefined) => void;
}) {
  const [typed, setTyped] = useState("");
  const [search] = useDebouncedValue(typed, TYPING_MS);
  const found = useQuery({
    queryKey: ["workflows", "names", search],
    queryFn: ({ signal }) =>
      send("get", "/workflows", { query: { search, sort: "name", limit: SUGGESTED }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const names = found.data?.data.map(({ id }) => id) ?? [];
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
      // The server has searched already, in names and tags too.
      filter={({ options }) => options}
      nothingFoundMessage={found.isPending ? "Looking…" : "No workflow has these words"}
      clearable
      clearButtonProps={{ "aria-label": "Any workflow" }}
      flex="1 1 200px"
      maw={{ base: "100%", sm: 320 }}
    />
  );
}
