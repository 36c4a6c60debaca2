/** A table of the database browser: its name, and, when it is open, its columns and sample rows. */
import { ActionIcon, Box, Button, Group, Stack, Text, Tooltip, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconCursorText, IconPlaylistAdd } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type MouseEvent, useId, useState } from "react";
import * as texts from "#texts/data";
import { LoadingSkeleton, QueryContent } from "../ui/page.tsx";
import { parseRows } from "../values/rows.ts";
import { RowsTable } from "../values/rows-table.tsx";
import type { DatabaseInsertions } from "./database-browser.tsx";
import { type DatabaseEntry, sampleQuery, type Table } from "./queries.ts";

interface TableEntryProps extends DatabaseInsertions {
  table: Table;
  database: DatabaseEntry;
  project: string | undefined;
}

/** A click with the mouse leaves the focus in the editor, so that the next key goes there. */
const keepFocus = (event: MouseEvent): void => event.preventDefault();

export function TableEntry({ table, database, project, insertName, insertStep }: TableEntryProps) {
  const [isOpen, setOpen] = useState(false);
  const content = useId();
  const { name, kind, row_count: rows } = table;
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <Box component="li">
      <Group gap={4} wrap="nowrap" justify="space-between">
        <UnstyledButton
          aria-expanded={isOpen}
          aria-controls={content}
          onClick={() => setOpen(!isOpen)}
          style={{ flex: 1, minWidth: 0 }}
          py={4}
        >
          <Group gap={6} wrap="nowrap">
            <Chevron size={14} aria-hidden style={{ flexShrink: 0 }} />
            <Text span size="sm" ff="monospace" truncate className="left-to-right">
              {name}
            </Text>
            <Text span size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
              {describeTable(kind, rows)}
            </Text>
          </Group>
        </UnstyledButton>
        <Tooltip label={texts.insertName}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={texts.insertNamed({ name })}
            onMouseDown={keepFocus}
            onClick={() => insertName({ kind: "table", name }, database.type)}
          >
            <IconCursorText size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={texts.addStep}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={texts.addStepNamed({ name })}
            onClick={() => insertStep(table, database.name, database.type)}
          >
            <IconPlaylistAdd size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
      <Box id={content} hidden={!isOpen} ps={20} pb="xs">
        {isOpen && (
          <TableContent table={table} database={database} project={project} insertName={insertName} />
        )}
      </Box>
    </Box>
  );
}

const describeTable = (kind: string, rows: number | null): string =>
  [kind === "table" ? "" : texts.kind({ kind }), rows === null ? "" : texts.rowCount({ count: rows })]
    .filter((part) => part !== "")
    .join(", ");

function TableContent({ table, database, project, insertName }: Omit<TableEntryProps, "insertStep">) {
  const [hasSample, setSample] = useState(false);
  const query = useQuery({ ...sampleQuery(database.name, table.name, project), enabled: hasSample });
  return (
    <Stack gap="xs">
      <Stack
        gap={0}
        component="ul"
        m={0}
        p={0}
        style={{ listStyle: "none" }}
        aria-label={texts.columnsOf({ name: table.name })}
      >
        {table.columns.map(({ name, type, nullable }) => (
          <li key={name}>
            <UnstyledButton
              py={2}
              w="100%"
              title={texts.insertName}
              onMouseDown={keepFocus}
              onClick={() => insertName({ kind: "column", name }, database.type)}
            >
              <Group gap={8} wrap="nowrap">
                <Text span size="sm" ff="monospace" truncate className="left-to-right">
                  {name}
                </Text>
                <Text span size="xs" c="dimmed" truncate>
                  {nullable ? texts.nullableColumn({ type: type.toLowerCase() }) : type.toLowerCase()}
                </Text>
              </Group>
            </UnstyledButton>
          </li>
        ))}
      </Stack>
      {hasSample ? (
        <QueryContent query={query} skeleton={<LoadingSkeleton rows={2} />}>
          {({ sample = [] }) => <SampleRows rows={sample} table={table} />}
        </QueryContent>
      ) : (
        <Group>
          <Button size="compact-xs" variant="default" onClick={() => setSample(true)}>
            {texts.showSample}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function SampleRows({ rows, table }: { rows: readonly Record<string, unknown>[]; table: Table }) {
  const parsed = parseRows({ rows, columns: table.columns.map(({ name }) => ({ name, type: "text" })) });
  if (parsed === null || parsed.rows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {texts.noRows}
      </Text>
    );
  return <RowsTable rows={parsed} label={table.name} />;
}
