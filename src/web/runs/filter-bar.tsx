/** The filters of the run list. */
import { Button, Group, MultiSelect, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback, useDebouncedValue } from "@mantine/hooks";
import { IconSearch, IconX } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/runs";
import type { RunTrigger } from "../../../schemas/run-status.ts";
import { send } from "../api/client.ts";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { statusLabel } from "../ui/status-badge.tsx";
import { isDay, isFiltered, type RunFilters, RUN_STATUSES } from "./filters.ts";
import { TRIGGER_LABELS } from "./labels.ts";
import { searchIssue } from "../workflows/filters.ts";

interface FilterBarProps {
  filters: RunFilters;
  onChange: (filters: RunFilters) => void;
}

export function FilterBar({ filters, onChange }: FilterBarProps) {
  const { workflow, backfill, status, trigger, since, until } = filters;
  /** Changes some filters; undefined removes one. */
  const change = (part: { [Name in keyof RunFilters]?: RunFilters[Name] | undefined }): void => {
    const entries = Object.entries({ ...filters, ...part }).filter(
      ([, value]) => value !== undefined && value !== "",
    );
    onChange({ status, ...Object.fromEntries(entries) });
  };
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label={texts.filters}>
      <SearchField value={filters.search ?? ""} onChange={(to) => change({ search: to })} />
      <WorkflowSelect value={workflow} onChange={(to) => change({ workflow: to, backfill: undefined })} />
      {backfill !== undefined && (
        <Button
          variant="default"
          rightSection={<IconX size={14} aria-hidden />}
          aria-label={texts.removeBackfill({ id: backfill })}
          onClick={() => change({ backfill: undefined })}
        >
          {texts.backfillFilter({ id: backfill })}
        </Button>
      )}
      <MultiSelect
        label={texts.status}
        placeholder={status.length === 0 ? texts.any : ""}
        data={RUN_STATUSES.map((value) => ({ value, label: statusLabel(value) }))}
        value={status}
        onChange={(to) => change({ status: to })}
        clearable
        clearButtonProps={{ "aria-label": texts.clearStatus }}
        flex="1 1 200px"
        maw={{ base: "100%", sm: 360 }}
      />
      <Select
        label={texts.trigger}
        placeholder={texts.any}
        data={Object.entries(TRIGGER_LABELS).map(([value, label]) => ({ value, label }))}
        value={trigger ?? null}
        onChange={(to) => change({ trigger: (to ?? undefined) as RunTrigger | undefined })}
        clearable
        clearButtonProps={{ "aria-label": texts.clearTrigger }}
        flex="1 1 160px"
        maw={{ base: "100%", sm: 220 }}
      />
      <Day label={texts.since} value={since} onChange={(to) => change({ since: to })} />
      <Day label={texts.until} value={until} onChange={(to) => change({ until: to })} />
      {isFiltered(filters) && (
        <Button variant="subtle" onClick={() => onChange({ status: [] })}>
          {texts.clearFilters}
        </Button>
      )}
    </Group>
  );
}

/** Pause in typing after which the runs are searched, in milliseconds. */
const SEARCH_DEBOUNCE_MS = 400;

function SearchField({ value, onChange }: { value: string; onChange: (search: string) => void }) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  const [sent, setSent] = useState(value);
  // What this field has sent arrives while the next text is typed. Anything else comes from elsewhere, such as "Clear filters".
  if (value !== known) {
    setKnown(value);
    if (value !== sent) {
      setSent(value);
      setTyped(value);
    }
  }
  const apply = useDebouncedCallback((text: string) => {
    setSent(text);
    onChange(text);
  }, SEARCH_DEBOUNCE_MS);
  const issue = searchIssue(typed);
  return (
    <TextInput
      type="search"
      label={texts.search}
      placeholder={texts.searchPlaceholder}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      error={issue}
      maxLength={200}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text);
        if (searchIssue(text) === undefined) apply(text.trim());
        else apply.cancel();
      }}
      flex="1 1 260px"
      maw={{ base: "100%", sm: 360 }}
    />
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
  const found = results.data?.data.map(({ id, name }) => ({ value: id, label: name })) ?? [];
  return (
    <Select
      label={texts.workflow}
      placeholder={texts.any}
      data={
        value === undefined || found.some((option) => option.value === value)
          ? found
          : [{ value, label: value }, ...found]
      }
      renderOption={({ option }) => (
        <Stack gap={0}>
          <Text size="sm">{option.label}</Text>
          {option.label !== option.value && (
            <Text size="xs" c="dimmed">
              {option.value}
            </Text>
          )}
        </Stack>
      )}
      value={value ?? null}
      onChange={(to) => onChange(to ?? undefined)}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      // The server has already filtered, by names and tags too.
      filter={({ options }) => options}
      nothingFoundMessage={results.isPending ? texts.searching : texts.noMatchingWorkflows}
      clearable
      clearButtonProps={{ "aria-label": texts.clearWorkflow }}
      flex="1 1 200px"
      maw={{ base: "100%", sm: 320 }}
    />
  );
}
