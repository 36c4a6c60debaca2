/** The versions of a workflow, latest first, with a choice of two to compare. */
import {
  Badge,
  Box,
  Button,
  Group,
  Menu,
  Radio,
  ScrollArea,
  Table,
  Text,
  VisuallyHidden,
} from "@mantine/core";
import { IconBroadcast, IconChevronDown } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { Link } from "react-router";
import type { WorkflowVersion } from "../../../schemas/workflow.ts";
import { PassedBacktest } from "../backtests/passed-backtest.tsx";
import { useHasScopeIn } from "../projects/use-projects.tsx";
import { SURFACE_LABELS, describeClient } from "../ui/surfaces.ts";
import { Time } from "../ui/time.tsx";
import type { WorkflowWithEtag } from "./queries.ts";
import { useRestoreContent } from "./use-restore-content.ts";

const PublishDialog = lazy(async () => ({ default: (await import("./publish-dialog.tsx")).PublishDialog }));

interface VersionTableProps {
  items: readonly WorkflowVersion[];
  read: WorkflowWithEtag;
  from: number;
  to: number;
  onCompare: (one: number, other: number) => void;
}

export function VersionTable({ items, read, from, to, onCompare }: VersionTableProps) {
  const may = useHasScopeIn(read.workflow);
  const [publishing, setPublishing] = useState<number>();
  const { published_version: published, status } = read.workflow;
  const mayChange = may("write") && status !== "archived";
  return (
    <ScrollArea type="auto" viewportProps={{ tabIndex: 0, role: "region", "aria-label": "History" }}>
      <Table verticalSpacing="xs" aria-label="Versions">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Compare</Table.Th>
            <Table.Th>Version</Table.Th>
            <Table.Th visibleFrom="sm">Created</Table.Th>
            <Table.Th visibleFrom="sm">Author</Table.Th>
            <Table.Th visibleFrom="sm">Change note</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => {
            const { version, change, created_at: at } = item;
            return (
              <Table.Tr key={version}>
                <Table.Td>
                  <Group gap="xs" wrap="nowrap">
                    <Radio
                      name="from"
                      aria-label={`Compare from version ${version}`}
                      checked={version === from}
                      disabled={version >= to}
                      onChange={() => onCompare(version, to)}
                    />
                    <Radio
                      name="to"
                      aria-label={`Compare to version ${version}`}
                      checked={version === to}
                      disabled={version <= from}
                      onChange={() => onCompare(from, version)}
                    />
                  </Group>
                </Table.Td>
                <Table.Td>
                  <Group gap={6} wrap="wrap">
                    <Text fw={600} size="sm">
                      {version}
                    </Text>
                    <Text size="sm" c="dimmed">
                      {change}
                    </Text>
                    {item.pruned_at !== undefined && (
                      <Badge variant="default" tt="none" title="The operator deleted the definition.">
                        pruned
                      </Badge>
                    )}
                    {version === published && (
                      <Badge
                        variant="default"
                        tt="none"
                        leftSection={<IconBroadcast size={12} aria-hidden />}
                      >
                        published
                      </Badge>
                    )}
                  </Group>
                  {/* Replaces the columns that a narrow window hides. */}
                  <Box hiddenFrom="sm">
                    <CreatedAt at={at} />
                    <Author item={item} />
                    {item.reason !== null && <ChangeNote reason={item.reason} />}
                  </Box>
                  {item.backtest !== undefined && (
                    <PassedBacktest workflow={item.workflow_id} passed={item.backtest} />
                  )}
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <CreatedAt at={at} />
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <Author item={item} />
                </Table.Td>
                <Table.Td maw={320} visibleFrom="sm">
                  {item.reason === null ? "–" : <ChangeNote reason={item.reason} />}
                </Table.Td>
                <Table.Td ta="right">
                  {mayChange && item.pruned_at === undefined && (
                    <VersionMenu read={read} version={version} onPublish={() => setPublishing(version)} />
                  )}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
      <Suspense>
        {publishing !== undefined && (
          <PublishDialog read={read} version={publishing} onClose={() => setPublishing(undefined)} />
        )}
      </Suspense>
    </ScrollArea>
  );
}

function CreatedAt({ at }: { at: string }) {
  return (
    <Text size="sm">
      <Time at={at} ago />
    </Text>
  );
}

function Author({ item: { created_by: by, key_name: key, surface, client } }: { item: WorkflowVersion }) {
  return (
    <>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {by}
      </Text>
      <Text size="xs" c="dimmed" title={client}>
        {SURFACE_LABELS[surface]} · {describeClient({ surface, key, client })}
      </Text>
    </>
  );
}

function ChangeNote({ reason }: { reason: string }) {
  return (
    <Text size="sm" style={{ overflowWrap: "anywhere" }} lineClamp={4}>
      {reason}
    </Text>
  );
}

interface VersionMenuProps {
  read: WorkflowWithEtag;
  version: number;
  onPublish: () => void;
}

function VersionMenu({ read, version, onPublish }: VersionMenuProps) {
  const may = useHasScopeIn(read.workflow);
  const restore = useRestoreContent(read);
  const { id, version: latest, published_version: published } = read.workflow;
  const isLatest = version === latest;
  const isPublished = version === published;
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="default"
          rightSection={<IconChevronDown size={14} aria-hidden />}
          loading={restore.isPending}
          aria-label={`Actions for version ${version}`}
        >
          Actions
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {!isLatest && <Menu.Item onClick={() => restore.mutate(version)}>Restore</Menu.Item>}
        {!isPublished && <Menu.Item onClick={onPublish}>Publish</Menu.Item>}
        {may("run") && (
          <Menu.Item component={Link} to={`/workflows/${id}/run?version=${version}`}>
            Run
          </Menu.Item>
        )}
        {isLatest && (
          <Menu.Item component={Link} to={`/workflows/${id}/edit`}>
            Edit
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
