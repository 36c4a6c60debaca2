/** The filters of the workflow list, which are stored in the URL. */
import { Autocomplete, CloseButton, Group, Select, Switch, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch, IconTag } from "@tabler/icons-react";
import { useState } from "react";
import { useSearchParams } from "react-router";
import * as texts from "#texts/workflows";
import { type Filters, isGrouped, searchIssue, SORTS, withFilter } from "./filters.ts";

/** Pause in typing after which the list is searched, in milliseconds. */
const DEBOUNCE_MS = 250;

/** @param tags the tags of the listed workflows, as suggestions */
export function ListFilters({ filters, tags }: { filters: Filters; tags: readonly string[] }) {
  const [parameters, setParameters] = useSearchParams();
  const setFilter = (name: keyof Filters | "group", value: string) =>
    setParameters((before) => withFilter(before, name, value), { replace: name === "search" });
  const search = useFieldText(filters.search ?? "");
  const tag = useFieldText(filters.tag ?? "");
  const searchLater = useDebouncedCallback((query: string) => {
    if (searchIssue(query) === undefined) setFilter("search", query.trim());
  }, DEBOUNCE_MS);
  const searchFor = (query: string) => {
    search.set(query);
    searchLater(query);
  };
  return (
    <Group gap="sm" align="flex-start" role="search">
      <TextInput
        type="search"
        aria-label={texts.searchWorkflows}
        placeholder={texts.search}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={search.text}
        onChange={(event) => searchFor(event.currentTarget.value)}
        error={searchIssue(search.text)}
        flex="1 1 220px"
      />
      <Autocomplete
        aria-label={texts.filterByTag}
        placeholder={texts.tag}
        leftSection={<IconTag size={16} aria-hidden />}
        rightSection={
          filters.tag !== undefined && (
            <CloseButton size="sm" aria-label={texts.clearTag} onClick={() => setFilter("tag", "")} />
          )
        }
        data={[...tags]}
        limit={50}
        value={tag.text}
        onChange={tag.set}
        onOptionSubmit={(chosen) => setFilter("tag", chosen)}
        onKeyDown={(event) => event.key === "Enter" && setFilter("tag", tag.text.trim())}
        onBlur={() => tag.text.trim() !== (filters.tag ?? "") && setFilter("tag", tag.text.trim())}
        flex="1 1 140px"
        maw={{ sm: 200 }}
      />
      <Select
        aria-label={texts.statusFilter}
        data={[
          { value: "", label: texts.notArchived },
          { value: "published", label: texts.statusOption({ status: "published" }) },
          { value: "draft", label: texts.statusOption({ status: "draft" }) },
          { value: "archived", label: texts.statusOption({ status: "archived" }) },
        ]}
        value={filters.status ?? ""}
        onChange={(status) => setFilter("status", status ?? "")}
        allowDeselect={false}
        flex="1 1 140px"
        maw={{ sm: 180 }}
      />
      <Select
        aria-label={texts.sortBy}
        data={Object.entries(SORTS).map(([value, label]) => ({ value, label }))}
        value={filters.sort}
        onChange={(sort) => setFilter("sort", sort ?? "")}
        allowDeselect={false}
        flex="1 1 170px"
        maw={{ sm: 200 }}
      />
      <Switch
        label={texts.groupByTag}
        checked={isGrouped(parameters)}
        onChange={(event) => setFilter("group", event.currentTarget.checked ? "tag" : "")}
        mt={8}
      />
    </Group>
  );
}

/** The text of a field, which is replaced when the filter changes elsewhere (by the clear button or the back button). */
function useFieldText(from: string) {
  const [draft, setDraft] = useState({ from, text: from });
  const current = draft.from === from || draft.text.trim() === from ? draft.text : from;
  return { text: current, set: (text: string) => setDraft({ from, text }) };
}
