/** Shows any input or output value as a table, chart, text or JSON tree. */
import { Box, Group, Tabs, Text } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { LoadingSkeleton } from "../ui/page.tsx";
import { TruncatedValue } from "./truncated-value.tsx";
import { JsonTree } from "./json-tree.tsx";
import { isTruncated, classifyValue } from "./classify-value.ts";
import { describeRowCount, suggestChart, type Rows } from "./rows.ts";
import { RowsTable } from "./rows-table.tsx";
import { ExportMenu } from "./export-menu.tsx";
import { TextValue } from "./text-value.tsx";

const RowsChart = lazy(() => import("./rows-chart.tsx"));

interface ValueViewProps {
  value: unknown;
  /** Name of the value, such as "Output of revenue", for accessible names and file names. */
  label: string;
  /** Loads the full value if the server truncated it. */
  loadFull?: (() => Promise<unknown>) | undefined;
}

/** @param value any JSON value; undefined if none is recorded */
export function ValueView({ value, label, loadFull }: ValueViewProps) {
  const [loaded, setLoaded] = useState<{ ref: string; value: unknown }>();
  if (!isTruncated(value)) return <FullValue value={value} label={label} />;
  if (loaded?.ref === value.ref) return <FullValue value={loaded.value} label={label} />;
  const { ref } = value;
  return (
    <TruncatedValue
      key={ref}
      payload={value}
      loadFull={loadFull}
      onLoaded={(result) => setLoaded({ ref, value: result })}
    />
  );
}

interface View {
  name: string;
  view: ReactNode;
}

function FullValue({ value, label }: { value: unknown; label: string }) {
  const classified = useMemo(() => classifyValue(value), [value]);
  const rows = classified.kind === "rows" ? classified.rows : undefined;
  const chart = useMemo(() => (rows === undefined ? null : suggestChart(rows.rows, rows.columns)), [rows]);
  if (classified.kind === "empty")
    return (
      <Text size="sm" c="dimmed">
        {classified.text}
      </Text>
    );
  if (classified.kind === "plain")
    return (
      <Text size="sm" ff="monospace">
        {classified.text}
      </Text>
    );
  const views: View[] = [];
  if (rows !== undefined) views.push({ name: "Table", view: <RowsView rows={rows} label={label} /> });
  if (rows !== undefined && chart !== null)
    views.push({
      name: "Chart",
      view: (
        <Suspense fallback={<LoadingSkeleton rows={3} />}>
          <RowsChart chart={chart} rows={rows.rows} />
        </Suspense>
      ),
    });
  if (classified.kind === "text") views.push({ name: "Text", view: <TextValue text={classified.text} /> });
  if (classified.kind !== "text" || classified.isProperty)
    views.push({ name: "JSON", view: <JsonTree value={value as object} label={label} /> });
  return (
    <ViewTabs views={views} actions={<ExportMenu value={value} label={label} rows={rows} />} label={label} />
  );
}

/** The views of one value as tabs, where there is more than one. */
function ViewTabs({ views, actions, label }: { views: readonly View[]; actions: ReactNode; label: string }) {
  const [selected, setSelected] = useState<string | null>(null);
  const [first] = views;
  const current = views.find(({ name }) => name === selected) ?? first!;
  if (views.length === 1)
    return (
      <Box>
        <Group justify="flex-end" mb="xs">
          {actions}
        </Group>
        {current.view}
      </Box>
    );
  return (
    <Tabs value={current.name} onChange={setSelected} keepMounted={false}>
      <Group justify="space-between" gap="xs" mb="sm">
        <Tabs.List aria-label={`Views of ${label}`}>
          {views.map(({ name }) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {actions}
      </Group>
      {views.map(({ name, view }) => (
        <Tabs.Panel key={name} value={name}>
          {view}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function RowsView({ rows, label }: { rows: Rows; label: string }) {
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs">
        {describeRowCount(rows)}
      </Text>
      {rows.columns.length > 0 && rows.rows.length > 0 && <RowsTable rows={rows} label={label} />}
    </>
  );
}
