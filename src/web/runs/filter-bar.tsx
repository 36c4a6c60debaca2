/** The filters of the run list. */
import { Button, Group, MultiSelect, Select, TextInput } from "@mantine/core";
import type { RunTrigger } from "../../../schemas/run.ts";
import { issuesOfError, issuesUnder, issueText } from "../forms/issues.ts";
import { searchIssue } from "../workflows/filters.ts";
import { WorkflowSelect } from "../workflows/workflow-select.tsx";
import { isDay, isFiltered, type RunFilters, RUN_STATUSES } from "./filters.ts";
import { TRIGGER_LABELS } from "./labels.ts";
import { SubmittedField } from "./submitted-field.tsx";

/** Two fields of this width are a row of their own. */
const WIDE = { flex: "1 1 40%", miw: 240 } as const;

interface FilterBarProps {
  filters: RunFilters;
  onChange: (filters: RunFilters) => void;
  /** Whether runs can be searched by words and by a condition. */
  isSearchable?: boolean;
  /** Why the filtered runs could not be read. */
  error?: Error | null;
}

export function FilterBar({ filters, onChange, isSearchable = false, error = null }: FilterBarProps) {
  const { search = "", where = "", workflow, status, trigger, since, until } = filters;
  /** Changes some filters; undefined removes one. */
  const change = (part: { [Name in keyof RunFilters]?: RunFilters[Name] | undefined }): void => {
    const entries = Object.entries({ ...filters, ...part }).filter(
      ([, value]) => value !== undefined && value !== "",
    );
    onChange({ status, ...Object.fromEntries(entries) });
  };
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label="Filters">
      {isSearchable && (
        <>
          <SubmittedField
            {...WIDE}
            label="Search"
            type="search"
            placeholder="Id, workflow, error, input or output"
            value={search}
            onSubmit={(to) => change({ search: to })}
            issueOf={searchIssue}
          />
          <SubmittedField
            {...WIDE}
            label="Condition"
            placeholder="output.total > 1000"
            value={where}
            onSubmit={(to) => change({ where: to })}
            error={issueText(issuesUnder(issuesOfError(error), "where"))}
          />
        </>
      )}
      <WorkflowSelect
        label="Workflow"
        placeholder="Any"
        value={workflow}
        onChange={(to) => change({ workflow: to })}
        flex="1 1 200px"
        maw={{ base: "100%", sm: 320 }}
      />
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
