/** The audit log: who changed what, when, and with which client. For admins. */
import { Button, Group, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconDownload, IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { serverPath } from "../app/base-path.ts";
import type { AuditEntry } from "../../../schemas/audit.ts";
import { send } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { PagedList } from "../ui/paged-list.tsx";
import { AccessDenied } from "../ui/access-denied.tsx";
import { EmptyState, Page } from "../ui/page.tsx";
import { cursorPagination, cursorParam } from "../ui/pagination.ts";
import { SURFACE_LABELS } from "../ui/surfaces.ts";
import { useFilters } from "../ui/use-filters.ts";
import { Entries } from "./entries.tsx";

type Surface = AuditEntry["surface"];

export default function Audit() {
  const hasScope = useHasScope();
  return hasScope("admin") ? <AuditLog /> : <AccessDenied title="Audit log" />;
}

function AuditLog() {
  const [params, setFilter] = useFilters();
  const filter = {
    search: params.get("search") ?? "",
    surface: (Object.keys(SURFACE_LABELS) as Surface[]).find((surface) => surface === params.get("surface")),
    since: params.get("since") ?? "",
    until: params.get("until") ?? "",
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
  const setSearch = useDebouncedCallback((value: string) => setFilter("search", value.trim()), 300);
  return (
    <Page
      title="Audit log"
      about="Every change, newest first: who made it, when, and with which key and client. Reads too, if the operator records them."
    >
      <Group align="flex-end">
        <TextInput
          label="Search"
          placeholder="User, key, workflow or operation"
          leftSection={<IconSearch size={16} aria-hidden />}
          defaultValue={filter.search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          w={{ base: "100%", sm: 320 }}
        />
        <Select
          label="Source"
          placeholder="All sources"
          clearable
          clearButtonProps={{ "aria-label": "Clear source" }}
          data={Object.entries(SURFACE_LABELS).map(([value, label]) => ({ value, label }))}
          value={filter.surface ?? null}
          onChange={(value) => setFilter("surface", value ?? "")}
        />
        <TextInput
          label="From"
          type="date"
          value={filter.since}
          onChange={(event) => setFilter("since", event.currentTarget.value)}
        />
        <TextInput
          label="Before"
          type="date"
          value={filter.until}
          onChange={(event) => setFilter("until", event.currentTarget.value)}
        />
        <Button
          component="a"
          href={serverPath(
            `/audit-log/export?${new URLSearchParams({ ...project, ...toQuery(filter) }).toString()}`,
          )}
          download
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Export
        </Button>
      </Group>
      <PagedList
        query={log}
        empty={
          <EmptyState title="No matching entries">
            The log records changes. It records reads only if the operator turned that on.
          </EmptyState>
        }
      >
        {(entries) => <Entries entries={entries} />}
      </PagedList>
    </Page>
  );
}

function toQuery(filter: { search: string; surface: Surface | undefined; since: string; until: string }) {
  const { search, surface, since, until } = filter;
  return {
    ...(search !== "" && { search }),
    ...(surface !== undefined && { surface }),
    ...(since !== "" && { since }),
    ...(until !== "" && { until }),
  };
}
