/** Rows as a table with pages. A click on a column heading sorts. */
import { Group, Pagination, ScrollArea, Stack, Table, Text, UnstyledButton } from "@mantine/core";
import { IconArrowDown, IconArrowsSort, IconArrowUp } from "@tabler/icons-react";
import { type ReactNode, useMemo, useState } from "react";
import { cellText } from "../../../schemas/csv.ts";
import { cellValue, type Column, type Row, type Rows, sortRows } from "./rows.ts";

const PAGE_ROWS = 25;
const MAX_COLUMNS = 40;
const CELL_CHARS = 400;

interface SortOrder {
  name: string;
  descending: boolean;
}

interface RowsTableProps {
  rows: Rows;
  label: string;
  /** Shows some cells in another way; undefined for the text of their value. */
  renderCell?: (row: Row, column: string) => ReactNode;
}

export function RowsTable({ rows: { rows, columns }, label, renderCell }: RowsTableProps) {
  const [order, setOrder] = useState<SortOrder>();
  const [requestedPage, setPage] = useState(1);
  const sorted = useMemo(() => {
    const column = columns.find(({ name }) => name === order?.name);
    return column === undefined ? rows : sortRows(rows, column, order!.descending);
  }, [rows, columns, order]);
  const indexes = useMemo(() => new Map(rows.map((row, index) => [row, index])), [rows]);
  const pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
  const page = Math.min(requestedPage, pages);
  const first = (page - 1) * PAGE_ROWS;
  const visibleColumns = columns.slice(0, MAX_COLUMNS);
  const sortBy = (name: string) => {
    setPage(1);
    setOrder(nextOrder(order, name));
  };
  return (
    <Stack gap="xs">
      <ScrollArea
        type="auto"
        viewportProps={{ tabIndex: 0, role: "region", "aria-label": `Rows of ${label}` }}
      >
        <Table striped withTableBorder verticalSpacing={4} fz="sm" w="auto" miw="100%">
          <Table.Thead>
            <Table.Tr>
              {visibleColumns.map((column) => (
                <ColumnHeading
                  key={column.name}
                  column={column}
                  order={order?.name === column.name ? order : undefined}
                  onSort={() => sortBy(column.name)}
                />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sorted.slice(first, first + PAGE_ROWS).map((row) => (
              <Table.Tr key={indexes.get(row)}>
                {visibleColumns.map(({ name, kind }) => (
                  <Table.Td key={name} valign="top">
                    {renderCell?.(row, name) ?? (
                      <Cell value={cellValue(row, name)} alignRight={kind === "number"} />
                    )}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea>
      {visibleColumns.length < columns.length && (
        <Text size="sm" c="dimmed">
          First {MAX_COLUMNS} of {columns.length} columns. JSON and the download contain all of them.
        </Text>
      )}
      {pages > 1 && (
        <Group justify="space-between" gap="xs">
          <Text size="sm" c="dimmed" role="status">
            Rows {(first + 1).toLocaleString("en")} to{" "}
            {Math.min(first + PAGE_ROWS, rows.length).toLocaleString("en")}
          </Text>
          <Pagination
            size="sm"
            siblings={0}
            total={pages}
            value={page}
            onChange={setPage}
            getItemProps={(number) => ({ "aria-label": `Page ${number}` })}
            getControlProps={(control) => ({ "aria-label": `${control} page` })}
          />
        </Group>
      )}
    </Stack>
  );
}

/** Cycles through ascending, descending and the original order. */
function nextOrder(order: SortOrder | undefined, name: string): SortOrder | undefined {
  if (order?.name !== name) return { name, descending: false };
  return order.descending ? undefined : { name, descending: true };
}

function ColumnHeading({
  column,
  order,
  onSort,
}: {
  column: Column;
  order: SortOrder | undefined;
  onSort: () => void;
}) {
  const Icon = order === undefined ? IconArrowsSort : order.descending ? IconArrowDown : IconArrowUp;
  const sort = order === undefined ? "none" : order.descending ? "descending" : "ascending";
  return (
    <Table.Th aria-sort={sort}>
      <UnstyledButton onClick={onSort} fz="sm" fw={600} w="100%">
        <Group gap={4} wrap="nowrap" justify={column.kind === "number" ? "flex-end" : "flex-start"}>
          <span style={{ whiteSpace: "nowrap" }}>{column.name}</span>
          <Icon size={12} aria-hidden style={{ flexShrink: 0, opacity: order === undefined ? 0.45 : 1 }} />
        </Group>
      </UnstyledButton>
    </Table.Th>
  );
}

function Cell({ value, alignRight }: { value: unknown; alignRight: boolean }) {
  const text = cellText(value);
  if (text === "")
    return (
      <Text span display="block" size="sm" c="dimmed" fs="italic" ta={alignRight ? "right" : undefined}>
        {value === null ? "null" : "empty"}
      </Text>
    );
  return (
    <Text
      span
      size="sm"
      display="block"
      w="max-content"
      maw="min(420px, 60vw)"
      lineClamp={4}
      {...(alignRight && { ml: "auto" })}
      style={{ overflowWrap: "break-word", fontVariantNumeric: "tabular-nums" }}
    >
      {text.length <= CELL_CHARS ? text : `${text.slice(0, CELL_CHARS).toWellFormed()}…`}
    </Text>
  );
}
