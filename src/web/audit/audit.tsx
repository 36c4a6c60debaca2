/** The audit log: who changed what, when, and with which client. For admins. */
import {
  Button,
  Card,
  Group,
  Menu,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
  type TextInputProps,
} from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconDownload, IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import * as texts from "#texts/audit";
import type { AuditEntry } from "../../../schemas/audit.ts";
import { send } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { AccessDenied } from "../ui/access-denied.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import { SURFACE_LABELS, describeClient } from "../ui/surfaces.ts";
import { Time } from "../ui/time.tsx";
import { useFilters } from "../ui/use-filters.ts";
import { EntryDetails } from "./entry-details.tsx";
import { operationLabel, Target } from "./entry-labels.tsx";

type Surface = AuditEntry["surface"];

export default function Audit() {
  const hasScope = useHasScope();
  return hasScope("admin") ? <AuditLog /> : <AccessDenied title={texts.title} />;
}

function AuditLog() {
  const [params, setFilter] = useFilters();
  const filter = {
    search: params.get("search") ?? "",
    surface: (Object.keys(SURFACE_LABELS) as Surface[]).find((surface) => surface === params.get("surface")),
    since: params.get("since") ?? "",
    until: params.get("until") ?? "",
    key: params.get("key") ?? "",
    target: params.get("target") ?? "",
  };
  const project = useProjectFilter();
  const log = useInfiniteQuery({
    queryKey: ["audit-log", filter, project],
    queryFn: ({ pageParam, signal }) =>
      send("get", "/audit-log", {
        query: { limit: 50, ...project, ...toQuery(filter), ...cursorParam(pageParam) },
        signal,
      }),
    ...cursorPagination,
  });
  const exportUrl = (format: "jsonl" | "csv"): string =>
    `/audit-log/export?${new URLSearchParams({ ...project, ...toQuery(filter), format }).toString()}`;
  return (
    <Page title={texts.title} about={texts.about}>
      <Group align="flex-end">
        <FilterText
          label={texts.search}
          placeholder={texts.searchPlaceholder}
          leftSection={<IconSearch size={16} aria-hidden />}
          defaultValue={filter.search}
          onText={(text) => setFilter("search", text)}
          w={{ base: "100%", sm: 320 }}
        />
        <Select
          label={texts.source}
          placeholder={texts.allSources}
          clearable
          clearButtonProps={{ "aria-label": texts.clearSource }}
          data={Object.entries(SURFACE_LABELS).map(([value, label]) => ({ value, label }))}
          value={filter.surface ?? null}
          onChange={(value) => setFilter("surface", value ?? "")}
        />
        <TextInput
          label={texts.from}
          type="date"
          value={filter.since}
          onChange={(event) => setFilter("since", event.currentTarget.value)}
        />
        <TextInput
          label={texts.before}
          type="date"
          value={filter.until}
          onChange={(event) => setFilter("until", event.currentTarget.value)}
        />
        <FilterText
          label={texts.key}
          placeholder={texts.keyPlaceholder}
          defaultValue={filter.key}
          onText={(text) => setFilter("key", text)}
          w={{ base: "100%", sm: 180 }}
        />
        <FilterText
          label={texts.target}
          placeholder={texts.targetPlaceholder}
          defaultValue={filter.target}
          onText={(text) => setFilter("target", text)}
          w={{ base: "100%", sm: 220 }}
        />
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />}>
              {texts.exportMenu}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item component="a" href={exportUrl("csv")} download>
              {texts.exportCsv}
            </Menu.Item>
            <Menu.Item component="a" href={exportUrl("jsonl")} download>
              {texts.exportJson}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
      <PagedList query={log} empty={<EmptyState title={texts.noEntries}>{texts.noEntriesHelp}</EmptyState>}>
        {(entries) => <Entries entries={entries} />}
      </PagedList>
    </Page>
  );
}

/** Pause in typing after which a filter applies, in milliseconds. */
const DEBOUNCE_MS = 300;

/** A filter that waits for a pause in typing, each by itself. */
function FilterText({ onText, ...props }: TextInputProps & { onText: (text: string) => void }) {
  const apply = useDebouncedCallback((text: string) => onText(text.trim()), DEBOUNCE_MS);
  return <TextInput {...props} onChange={({ currentTarget: { value } }) => apply(value)} />;
}

interface Filter {
  search: string;
  surface: Surface | undefined;
  since: string;
  until: string;
  key: string;
  target: string;
}

type SetFilters = { [Name in keyof Filter]?: NonNullable<Filter[Name]> };

/** The filters that are set. */
const toQuery = (filter: Filter): SetFilters =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined && value !== ""));

function Entries({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <>
      <Table.ScrollContainer minWidth={760} visibleFrom="sm">
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.time}</Table.Th>
              <Table.Th>{texts.actor}</Table.Th>
              <Table.Th>{texts.operation}</Table.Th>
              <Table.Th>{texts.target}</Table.Th>
              <Table.Th>{texts.source}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {entries.map((entry) => (
              <Table.Tr key={entry.id}>
                <Table.Td>
                  <Time at={entry.at} />
                </Table.Td>
                <Table.Td>{entry.owner}</Table.Td>
                <Table.Td>{operationLabel(entry.operation)}</Table.Td>
                <Table.Td>
                  <Target entry={entry} />
                  <EntryDetails entry={entry} />
                </Table.Td>
                <Table.Td>
                  {SURFACE_LABELS[entry.surface]}
                  <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                    {describeClient({ ...entry, key: entry.key_name })}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Stack gap="xs" hiddenFrom="sm">
        {entries.map((entry) => (
          <Card key={entry.id} withBorder padding="sm">
            <Text size="sm" fw={600}>
              {operationLabel(entry.operation)} <Target entry={entry} />
            </Text>
            <EntryDetails entry={entry} />
            <Text size="sm" c="dimmed" component="div">
              {entry.owner} · {SURFACE_LABELS[entry.surface]} · <Time at={entry.at} />
            </Text>
          </Card>
        ))}
      </Stack>
    </>
  );
}
