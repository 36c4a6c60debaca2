/** The command palette: finds workflows, runs, people, pages and actions, by keyboard alone. */
import "@mantine/spotlight/styles.css";
import { Loader, Text } from "@mantine/core";
import { createSpotlight, Spotlight, type SpotlightStore, useSpotlight } from "@mantine/spotlight";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useState } from "react";
import { useNavigate } from "react-router";
import * as texts from "#texts/palette";
import { useHasScope, useSession } from "../app/session.tsx";
import { bookmarksQuery } from "../bookmarks/bookmarks.ts";
import { searchIssue } from "../workflows/filters.ts";
import { intentOf } from "./intent.ts";
import { groupsOf, type PalettePage } from "./items.tsx";
import { readVisits } from "./recent.ts";
import { useResults } from "./use-results.ts";

interface Props {
  /** The pages of the navigation. */
  pages: readonly PalettePage[];
  onClose: () => void;
}

/** Rendered while it is open. */
export default function CommandPalette({ pages, onClose }: Props) {
  const [[store, spotlight]] = useState(createSpotlight);
  const [query, setQuery] = useState("");
  const navigate = useNavigate();
  const { user } = useSession();
  const hasScope = useHasScope();
  const bookmarks = useQuery(bookmarksQuery);
  const [visits] = useState(() => readVisits(user.id));
  const intent = intentOf(query);
  const { workflows, people, isSearching, error } = useResults(intent.words);
  const groups = groupsOf({
    intent,
    pages,
    visits,
    favorites: bookmarks.data?.favorites ?? [],
    workflows,
    people,
    hasScope,
  });
  const keys = groups.flatMap(({ items }) => items.map(({ key }) => key)).join("\n");
  useEffect(() => spotlight.open(), [spotlight]);
  // What the server finds arrives after the query, so the first item is selected again: Enter opens it.
  useEffect(() => {
    if (keys !== "") selectFirst(store);
  }, [keys, store]);
  const { selected, listId } = useSpotlight(store);
  const prefix = useId();
  const items = groups.flatMap((group) => group.items);
  const idOf = (key: string): string => `${prefix}-${items.findIndex((item) => item.key === key)}`;
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      scrollable
      maxHeight="min(420px, 60vh)"
      attributes={{ content: { "aria-label": texts.dialog } }}
      // Spotlight's own opacity has too little contrast.
      styles={{ actionDescription: { opacity: 1 } }}
      transitionProps={{ duration: 0, onExited: onClose }}
      overlayProps={{ backgroundOpacity: 0.35, blur: 2 }}
    >
      <Spotlight.Search
        aria-label={texts.searchLabel}
        role="combobox"
        aria-expanded
        aria-controls={listId}
        {...(items[selected] !== undefined && { "aria-activedescendant": `${prefix}-${selected}` })}
        placeholder={texts.placeholder}
        leftSection={<IconSearch size={18} aria-hidden />}
        rightSection={isSearching ? <Loader size={16} aria-hidden /> : undefined}
      />
      <Spotlight.ActionsList role="listbox" aria-label={texts.results}>
        {groups.map(({ label, items: found }) => (
          <Spotlight.ActionsGroup key={label} label={label} role="group" aria-label={label}>
            {found.map(({ key, label: name, about, Icon, to }) => (
              <Spotlight.Action
                key={key}
                // Spotlight passes no id on.
                ref={(element: HTMLButtonElement | null) => element?.setAttribute("id", idOf(key))}
                role="option"
                aria-selected={items[selected]?.key === key}
                label={name}
                {...(about !== undefined && { description: about })}
                leftSection={<Icon size={18} aria-hidden />}
                onClick={() => void navigate(to)}
              />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {groups.length === 0 && (
          <Spotlight.Empty>{emptyText(intent.words, isSearching, error)}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
      <Text size="xs" c="dimmed" px="md" py={6} visibleFrom="sm">
        {texts.keys}
      </Text>
    </Spotlight.Root>
  );
}

/** Spotlight marks the chosen item in the document, see its store. */
function selectFirst(store: SpotlightStore): void {
  const list = document.getElementById(store.getState().listId);
  for (const marked of list?.querySelectorAll("[data-selected]") ?? [])
    marked.removeAttribute("data-selected");
  list?.querySelector("[data-action]")?.setAttribute("data-selected", "true");
  store.updateState((state) => ({ ...state, selected: 0 }));
}

function emptyText(words: string, isSearching: boolean, error: Error | null): string {
  if (error !== null) return error.message;
  if (isSearching) return texts.searching;
  return searchIssue(words) ?? texts.nothingFound({ words });
}
