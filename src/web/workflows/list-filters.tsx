/** What narrows the list of workflows; all of it stands in the address. */
import { Autocomplete, CloseButton, Group, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch, IconTag } from "@tabler/icons-react";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { type Filters, searchIssue, SORTS, withFilter } from "./filters.ts";

const SEARCH_AFTER_MS = 250;

/** @param tags those of the workflows that are shown */
export function ListFilters({ filters, tags }: { filters: Filters; tags: readonly string[] }) {
  const [, setParameters] = useSearchParams();
  const set = (name: keyof Filters, value: string) =>
    setParameters((before) => withFilter(before, name, value), { replace: name === "search" });
  const search = useDraft(filters.search ?? "");
  const tag = useDraft(filters.tag ?? "");
  const later = useDebouncedCallback((words: string) => {
    if (searchIssue(words) === undefined) set("search", words.trim());
  }, SEARCH_AFTER_MS);
  const searchFor = (words: string) => {
    search.set(words);
    later(words);
  };
  return (
    <Group gap="sm" align="flex-start" role="search">
      <TextInput
        type="search"
        aria-label="Search workflows"
        placeholder="Search"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={search.text}
        onChange={(event) => searchFor(event.currentTarget.value)}
        error={searchIssue(search.text)}
        flex="1 1 220px"
      />
      <Autocomplete
        aria-label="Only with the tag"
        placeholder="Tag"
        leftSection={<IconTag size={16} aria-hidden />}
        rightSection={
          filters.tag !== undefined && (
            <CloseButton size="sm" aria-label="Any tag" onClick={() => set("tag", "")} />
          )
        }
        data={[...tags]}
        limit={50}
        value={tag.text}
        onChange={tag.set}
        onOptionSubmit={(chosen) => set("tag", chosen)}
        onKeyDown={(event) => event.key === "Enter" && set("tag", tag.text.trim())}
        onBlur={() => tag.text.trim() !== (filters.tag ?? "") && set("tag", tag.text.trim())}
        flex="1 1 140px"
        maw={{ sm: 200 }}
      />
      <Select
        aria-label="Status"
        data={[
          { value: "", label: "All but archived" },
          { value: "published", label: "Published" },
          { value: "draft", label: "Draft" },
          { value: "archived", label: "Archived" },
        ]}
        value={filters.status ?? ""}
        onChange={(status) => set("status", status ?? "")}
        allowDeselect={false}
        flex="1 1 140px"
        maw={{ sm: 180 }}
      />
      <Select
        aria-label="Order"
        data={Object.entries(SORTS).map(([value, label]) => ({ value, label }))}
        value={filters.sort}
        onChange={(sort) => set("sort", sort ?? "")}
        allowDeselect={false}
        flex="1 1 150px"
        maw={{ sm: 200 }}
      />
    </Group>
  );
}

/** Text that is being typed, until what it was begun from changes elsewhere (a filter is cleared, one goes back). */
function useDraft(from: string) {
  const [draft, setDraft] = useState({ from, text: from });
  const current = draft.from === from || draft.text.trim() === from ? draft.text : from;
  return { text: current, set: (text: string) => setDraft({ from, text }) };
}
