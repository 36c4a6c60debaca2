/** The saved filters of a list: applies, saves and removes them. */
import { ActionIcon, Button, Divider, Group, Popover, Stack, Text, TextInput } from "@mantine/core";
import { IconBookmark, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import * as texts from "#texts/bookmarks";
import type { ViewPage } from "../../../schemas/bookmarks.ts";
import { bookmarksQuery, useUpdateBookmarks } from "./bookmarks.ts";
import { savedQuery, withSavedQuery } from "./saved-query.ts";

/** Maximum length of a name, in characters. */
const MAX_NAME = 60;

export function SavedViews({ page }: { page: ViewPage }) {
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const views = (useQuery(bookmarksQuery).data?.views ?? []).filter((view) => view.page === page);
  const update = useUpdateBookmarks();
  const query = savedQuery(params);
  const current = views.find((view) => view.query === query);
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} width={300} position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconBookmark size={16} aria-hidden />}
          maw={240}
          onClick={() => setOpen(!isOpen)}
        >
          {current?.name ?? texts.savedFilters}
        </Button>
      </Popover.Target>
      {/* Not a menu, because it has a field. */}
      <Popover.Dropdown p={4} aria-label={texts.savedFilters}>
        {views.length === 0 && (
          <Text size="sm" c="dimmed" px="sm" py={6}>
            {texts.noneSaved}
          </Text>
        )}
        {views.map((view) => (
          <Group key={view.name} gap={4} wrap="nowrap">
            <Button
              variant="subtle"
              color="gray"
              size="sm"
              flex={1}
              miw={0}
              justify="start"
              onClick={() => {
                setOpen(false);
                void navigate({ search: withSavedQuery(params, view.query) });
              }}
              aria-current={view === current ? "true" : undefined}
            >
              {view.name}
            </Button>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={texts.removeFilter({ name: view.name })}
              onClick={() => update.mutate({ remove_views: [{ page, name: view.name }] })}
            >
              <IconTrash size={14} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        {query !== "" && current === undefined && (
          <>
            {views.length > 0 && <Divider my={4} />}
            <SaveForm
              onSave={(name) =>
                update.mutate({ save_views: [{ page, name, query }] }, { onSuccess: () => setOpen(false) })
              }
              isSaving={update.isPending}
              taken={new Set(views.map(({ name }) => name))}
            />
          </>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

interface SaveFormProps {
  onSave: (name: string) => void;
  isSaving: boolean;
  /** The names of the views that there are. */
  taken: ReadonlySet<string>;
}

function SaveForm({ onSave, isSaving, taken }: SaveFormProps) {
  const [name, setName] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (name.trim() !== "") onSave(name.trim());
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs" p="sm">
        <TextInput
          label={texts.saveAs}
          size="xs"
          maxLength={MAX_NAME}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" size="xs" loading={isSaving} disabled={name.trim() === ""}>
          {taken.has(name.trim()) ? texts.replace : texts.save}
        </Button>
      </Stack>
    </form>
  );
}
